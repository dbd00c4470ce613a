package dev.latchkey.cli;

import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lock run}: runs a command under a lock. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description = "Runs a command while holding the lock NAME. Its exit code is the command's.",
        customSynopsis = {
            "lock run [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
            "lock run [OPTIONS] NAME -c 'SHELL COMMAND' [ARGUMENT...]"
        },
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.DURATIONS,
            "",
            "Examples:",
            "  lock run report -- make report           one at a time, the others wait",
            "  lock run -n report -- make report        exit code 75 if it runs already",
            "  lock run -x nightly -- ./backup          for cron: skip silently if it runs",
            "  lock run -w 30s db -c 'dump | gzip >x'   wait 30 s; through the shell",
            "  lock run -s data -- ./read               many readers, or one without -s",
            "  lock run --permits 5 api -- ./call       up to five at a time",
            "",
            "Exit codes:",
            "  the command's",
            "  128+n       it died by signal n, or signal n ended the waiting",
            HelpText.FAILURES,
            HelpText.CONFLICT,
            "  76          the lock was lost, or --max-hold is over",
            "  126, 127    the command cannot be run, was not found",
            "",
            "Signals: INT, TERM, HUP and QUIT end the waiting at once. Later the command",
            "and what it started get them, once. After TERM they have --kill-after to end,",
            "a second TERM kills them. The lock is released when they are gone. KILL of lock",
            "itself frees a flock lock at once, though the command goes on.",
            "",
            "Environment of the command: LOCK_NAME; LOCK_TOKEN, the fencing token, where",
            "there is one; LOCK_EXPIRES, when the lease would end without refresh, in",
            "seconds since 1970.",
            "Read by lock itself: LATCHKEY_STORE, the default of --store.",
        })
final class RunCommand implements Callable<Integer> {

    @Mixin
    private CommandArguments arguments = new CommandArguments();

    @Mixin
    private WaitOptions waiting = new WaitOptions();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Mixin
    private KillAfterOption killAfter = new KillAfterOption();

    @Option(
            names = "--on-lost",
            paramLabel = "term|kill|warn",
            defaultValue = "term",
            description = "What the command gets if the lock is lost while it runs: TERM (then KILL), KILL at once,"
                    + " or nothing. Default: term.")
    private OnLost onLost = OnLost.TERM;

    @Option(
            names = "--min-hold",
            paramLabel = "DURATION",
            converter = DurationText.class,
            defaultValue = "0",
            description =
                    "Keep the lock so long at least, though the command ends sooner: for cron on hosts whose clocks"
                            + " differ.")
    private Duration minHold = Duration.ZERO;

    @Option(
            names = "--max-hold",
            paramLabel = "DURATION",
            converter = DurationText.class,
            description = "End the command, as with TERM, after this time.")
    private @Nullable Duration maxHold;

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "Let up to N run at the same time, instead of one: with Redis and SQL databases.")
    private @Nullable Integer permits;

    @Option(
            names = "--no-auto-refresh",
            description = "Let the lease end after --ttl instead of refreshing it while the command runs.")
    private boolean noAutoRefresh;

    @Override
    public Integer call() throws InterruptedException {
        ChildCommand command = arguments.command();
        String name = arguments.name();
        ProcessList.check();
        LockTarget want = waiting.want(
                store.dsn(), name, noAutoRefresh ? LockTarget.Keeping.NOT_REFRESHED : LockTarget.Keeping.REFRESHED);
        if (permits != null) {
            want = want.ofPermits(checked(permits));
        }
        RunRules rules =
                new RunRules(killAfter.duration(), onLost, minHold, maxHold == null ? LockTarget.NO_LIMIT : maxHold);
        Console console = store.console();
        Inbox inbox = new Inbox();
        Signals.deliverTo(inbox);
        console.explain("acquiring " + Text.quoted(name));
        AcquireAnswer answer = AcquireTask.acquire(want, inbox);
        if (answer instanceof AcquireAnswer.Acquired held) {
            return new ChildRun(held, rules, inbox, console).of(command);
        }
        return waiting.explain(answer, want, console);
    }

    private int checked(int number) {
        if (number < 1) {
            throw new CommandException(ExitCode.USAGE, "--permits " + number + ": at least one has to run", null);
        }
        return number;
    }
}

package dev.latchkey.cli;

import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lock lead}: runs a command whenever this process leads. */
@Command(
        name = "lead",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description = "Stands in the election NAME, runs a command whenever this process leads, and stands again when"
                + " its term or the command has ended.",
        customSynopsis = {
            "lock lead [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
            "lock lead [OPTIONS] NAME -c 'SHELL COMMAND' [ARGUMENT...]"
        },
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.DURATIONS,
            "",
            "Examples:",
            "  lock lead dispatcher -- ./dispatcher     on several hosts: one of them runs it",
            "  lock lead --ttl 15s dispatcher -- ./dispatcher",
            "                                           another host takes over within 15 s",
            "  lock who dispatcher                      who leads, and who stands behind",
            "",
            "Exit codes:",
            "  the command's, if it ended after a signal to lock",
            "  128+n       it died by signal n, or signal n ended the waiting",
            HelpText.FAILURES,
            "  76          the lock was lost when the command ended after a signal",
            "  126, 127    the command cannot be run, was not found",
            "",
            "A lease that cannot be renewed ends the command before another host can lead:",
            "TERM comes --kill-after and a second before its end, KILL a second before.",
            "If the lock is lost at once, the command gets KILL at once.",
            "",
            "If the command ends by itself, another host may lead; this one stands again after",
            "a second, or up to a minute if the command fails again and again. If the store is",
            "away, it is tried again in the same way.",
            "",
            "Signals: while lock waits, any signal ends it. Later the command and what it",
            "started get them; when it has ended after TERM or INT, or by another of them,",
            "lock ends as well.",
            "",
            "Environment of the command: LOCK_NAME; LOCK_TOKEN, the number of the term, where",
            "there is one; LOCK_EXPIRES, when the lease would end without refresh, in",
            "seconds since 1970.",
            "Read by lock itself: LATCHKEY_STORE, the default of --store.",
        })
final class LeadCommand implements Callable<Integer> {

    @Mixin
    private CommandArguments arguments = new CommandArguments();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Option(
            names = "--ttl",
            paramLabel = "DURATION",
            converter = DurationText.class,
            defaultValue = "30s",
            description = "The time after which another host leads if this one dies. Default: 30s. Where locks end with"
                    + " their process (flock), only how often the store is asked for them: three times.")
    private Duration ttl = Duration.ofSeconds(30);

    @Mixin
    private KillAfterOption killAfter = new KillAfterOption();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        ChildCommand command = arguments.command();
        ProcessList.check();
        Duration stopTime = killAfter.duration().plus(ChildSupervisor.KILL_TIME);
        requireTimeToStop(stopTime);
        LockTarget want = new LockTarget(
                store.dsn(),
                arguments.name(),
                ttl,
                LockMode.EXCLUSIVE,
                LockTarget.NO_LIMIT,
                LockTarget.Keeping.REFRESHED);
        RunRules rules = new RunRules(killAfter.duration(), OnLost.KILL, Duration.ZERO, LockTarget.NO_LIMIT);
        Inbox inbox = new Inbox();
        Signals.deliverTo(inbox);
        return new ElectedRuns(want, stopTime, rules, inbox, store.console()).of(command);
    }

    /** A lease is renewed when a third of it is over, and must not look as if it was about to end before that. */
    private void requireTimeToStop(Duration stopTime) {
        if (stopTime.compareTo(ttl.multipliedBy(2).dividedBy(3)) >= 0) {
            throw new ParameterException(
                    spec.commandLine(),
                    "a --ttl of " + DurationText.format(ttl) + " leaves no time to end the command: --kill-after of "
                            + DurationText.format(killAfter.duration()) + " needs more than "
                            + DurationText.format(stopTime.multipliedBy(3).dividedBy(2)));
        }
    }
}

package dev.latchkey.cli;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import dev.latchkey.cli.top.Reading;
import dev.latchkey.cli.top.TopView;
import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock top}: what is held as it changes, that with most waiters first. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Shows what is held, as it changes, that with most waiters first. Keys: / filters, b ends a hold once you"
                        + " have typed its fencing token, q quits. Without a terminal at stdin and stdout, and with --json,"
                        + " prints it once.",
        customSynopsis = "lock top [OPTIONS] [PREFIX]",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.DURATIONS,
            "",
            "The store is read once per interval. A listing that takes long is followed by a pause of",
            "ten times its duration, 30 seconds at most.",
            "",
            "Exit codes:",
            "  0           q was pressed, or it was printed",
            "  128+n       signal n ended it, as Ctrl-C does",
            "  64, 69, 70  as for lock run; 64 also if the store cannot list",
            "  74          it could not be written to stdout",
            "  77          the store refuses the password, the user or the permission",
        })
final class TopCommand implements Callable<Integer> {

    /** Of a listing, and of the screen. */
    private static final Duration USUAL_DELAY = Duration.ofSeconds(5);

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "What the names begin with; all, if it is left out.")
    private String prefix = "";

    @Option(names = "--json", description = "Print each resource as JSON, on a line of its own, once.")
    private boolean json;

    @Mixin
    private IntervalOption interval = new IntervalOption();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() throws InterruptedException {
        Console console = store.console();
        Duration pause = interval.duration();
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            if (!locks.supports(Capability.LISTING)) {
                throw StoreOptions.cannotList(null);
            }
            // What fails now, fails as lock ls does: before the screen is there.
            Reading first = Reading.of(locks, prefix);
            if (json || !isShown(console)) {
                print(first, console);
                return ExitCode.OK.number();
            }
            String title = store.name() + (prefix.isEmpty() ? "" : " " + prefix + "…");
            TopView view = new TopView(
                    Text.oneLine(title), locks.supports(Capability.FORCE_RELEASE), pause.plus(USUAL_DELAY), first);
            return new TopRun(locks, prefix, pause, view).untilEnded();
        }
    }

    /** Whoever looks at a terminal hears why it does not change. */
    private static boolean isShown(Console console) throws InterruptedException {
        if (!Confirmation.isTerminal(1)) {
            return false;
        }
        String type = System.getenv("TERM");
        if (type == null || type.isBlank() || type.equals("dumb")) {
            console.say("this terminal cannot show what changes (TERM is not set, or dumb): printed once");
            return false;
        }
        if (!Confirmation.isTerminal(0)) {
            console.say("there is no keyboard, for stdin is no terminal: printed once");
            return false;
        }
        return true;
    }

    private void print(Reading reading, Console console) {
        if (json) {
            reading.resources()
                    .forEach(listed -> console.answer(HolderReport.json(listed).toString()));
        } else if (!reading.resources().isEmpty()) {
            ResourceTable table = new ResourceTable(reading.resources());
            console.answer(table.heading());
            table.lines().forEach(console::answer);
        }
        if (reading.resources().isEmpty()) {
            console.say(LsCommand.nothing(prefix));
        }
        if (!reading.isComplete()) {
            console.say("more are held than are printed, and others may have more waiters: give a PREFIX");
        }
    }
}

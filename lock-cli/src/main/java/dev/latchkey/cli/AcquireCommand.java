package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.UnserializableKeyException;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock acquire}: acquires a lock that outlives the command, or holds it. */
@Command(
        name = "acquire",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Acquires the lock NAME and prints its key, which can refresh or release it from anywhere. The lock"
                        + " is not refreshed automatically: it ends after --ttl.",
        customSynopsis = "lock acquire [OPTIONS] NAME",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.DURATIONS,
            "",
            "Examples:",
            "  LATCHKEY_KEY=$(lock acquire --ttl 10m deploy) && export LATCHKEY_KEY",
            "  lock refresh          # in time, from here or from another host",
            "  lock release",
            "  lock acquire --hold deploy    # where keys cannot travel, such as flock",
            "",
            "Exit codes:",
            "  0           the lock was taken, or was held until the end asked for",
            HelpText.FAILURES,
            "  74          the answer could not be written to stdout; nothing is held",
            HelpText.CONFLICT,
            "  76          the lock was lost while it was held with --hold",
            "  128+n       signal n ended the waiting, or came before the key was written",
        })
final class AcquireCommand implements Callable<Integer> {

    @Parameters(index = "0", paramLabel = "NAME", description = "The resource to protect: any text.")
    private String name = "";

    @Mixin
    private WaitOptions waiting = new WaitOptions();

    @Option(
            names = "--hold",
            description = "Print no key: hold the lock, and refresh it, until INT, TERM, HUP or QUIT comes. Prints one"
                    + " line on stdout when it is held.")
    private boolean hold;

    @Option(
            names = "--until-eof",
            description = "Like --hold, but also ends with stdin, and so with the process that started it.")
    private boolean untilEof;

    @Option(names = "--json", description = "Print the answer as JSON.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() throws InterruptedException {
        Key.of(name);
        boolean holding = hold || untilEof;
        LockTarget want = waiting.want(
                store.dsn(), name, holding ? LockTarget.Keeping.REFRESHED : LockTarget.Keeping.HANDED_OVER);
        Console console = store.console();
        Inbox inbox = new Inbox();
        Signals.deliverTo(inbox);
        console.explain("acquiring " + Text.quoted(name));
        AcquireAnswer answer = AcquireTask.acquire(want, inbox);
        if (answer instanceof AcquireAnswer.Acquired held) {
            console.explain("acquired " + Text.quoted(name) + " after " + DurationText.format(held.waited()));
            return holding
                    ? new BareHold(held, inbox, console).untilToldToEnd(line(held), untilEof)
                    : print(held, inbox, console);
        }
        if (answer instanceof AcquireAnswer.Failed failed && failed.failure() instanceof UnserializableKeyException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    Failures.message(e) + "; use lock run, or lock acquire --hold, or a store such as redis://",
                    e);
        }
        if (json && answer instanceof AcquireAnswer.Conflicted) {
            console.answer(
                    new Json().put("resource", name).put("acquired", false).toString());
        }
        return waiting.explain(answer, want, console);
    }

    private int print(AcquireAnswer.Acquired held, Inbox inbox, Console console) throws InterruptedException {
        try {
            String key = held.lock().key().serialize();
            console.answer(json ? description(held.lock()).put("key", key).toString() : key, inbox);
            Optional<UnixSignal> signal = awaitPrinted(inbox);
            if (signal.isPresent()) {
                console.explain("writing the key ended by " + signal.get() + ": releasing " + Text.quoted(name));
                return signal.get().exitCode();
            }
            // Only now: if the key could not be printed, closing the factory releases the lock.
            transferKey(held.lock());
            return ExitCode.OK.number();
        } finally {
            held.locks().close();
        }
    }

    /** Returns the signal that came before the key was written; empty if it was written. */
    private static Optional<UnixSignal> awaitPrinted(Inbox inbox) throws InterruptedException {
        while (true) {
            Event event = inbox.next();
            if (event instanceof Event.Signalled signalled) {
                return Optional.of(signalled.signal());
            }
            if (event instanceof Event.Printed printed) {
                if (!printed.isWritten()) {
                    throw Console.notWritten();
                }
                return Optional.empty();
            }
        }
    }

    /** Leaves the lock to whoever has its key. Fails with an explanation if its lease was too short for that. */
    static void transferKey(Lock lock) {
        try {
            lock.transferKey();
        } catch (IllegalStateException e) {
            throw new CommandException(
                    ExitCode.LOST,
                    Text.quoted(lock.key().resource())
                            + " is no longer held: its --ttl was over before this command ended",
                    e);
        }
    }

    private String line(AcquireAnswer.Acquired held) {
        return json ? description(held.lock()).toString() : "held " + Text.oneLine(name);
    }

    private Json description(Lock lock) {
        return HoldDescription.of(new Json().put("resource", name).put("acquired", true), lock);
    }
}

package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** Runs one child under one lock, from the grant to the release. */
final class ChildRun {

    /** A shorter lease may be impossible for the store, or over before a slow answer. */
    private static final Duration TOO_SHORT_TO_LEAVE = Duration.ofSeconds(2);

    private final AcquireAnswer.Acquired held;
    private final Lock lock;
    private final String name;
    private final RunRules rules;
    private final Inbox inbox;
    private final Console console;
    private final long heldSince = System.nanoTime();

    ChildRun(AcquireAnswer.Acquired held, RunRules rules, Inbox inbox, Console console) {
        this.held = held;
        this.lock = held.lock();
        this.name = lock.key().resource();
        this.rules = rules;
        this.inbox = inbox;
        this.console = console;
    }

    /** Runs the command, releases the lock, and returns the exit code for both. */
    int of(ChildCommand command) throws InterruptedException {
        console.explain("acquired " + Text.quoted(name) + " after " + DurationText.format(held.waited()));
        try {
            OptionalInt exitCode = ChildSupervisor.untilGone(lock, rules, inbox, console, () -> command.start(lock));
            return exitCode.isPresent() ? giveBack(exitCode.getAsInt()) : ExitCode.LOST.number();
        } finally {
            held.locks().close();
        }
    }

    private int giveBack(int exitCode) throws InterruptedException {
        Duration rest = rules.minHold().minusNanos(System.nanoTime() - heldSince);
        try {
            if (rest.toMillis() > 0 && keepFor(rest)) {
                return exitCode;
            }
            if (lock.release()) {
                return exitCode;
            }
            console.say(
                    "the lock " + Text.quoted(name) + " was no longer held when the command ended: somebody else may"
                            + " have worked at the same time");
            return ExitCode.LOST.number();
        } catch (LockLostException e) {
            console.say(Failures.message(e));
            return ExitCode.LOST.number();
        } catch (LockStorageException e) {
            // The command has run under the lock: its result is more important than a lock that stays for a while.
            console.say(Failures.message(e) + "; it ends with its TTL");
            // Closing releases the lock if the store answers by then.
            sitOut(rules.minHold().minusNanos(System.nanoTime() - heldSince));
            return exitCode;
        }
    }

    /** Keeps the lock held. Returns true if it stays held without this process. */
    private boolean keepFor(Duration rest) throws InterruptedException {
        console.explain("keeping " + Text.quoted(name) + " for another " + DurationText.format(rest) + " (--min-hold)");
        if (canBeLeftToTheStore(rest)) {
            return leaveToTheStore(rest);
        }
        sitOut(rest);
        return false;
    }

    private boolean leaveToTheStore(Duration rest) throws InterruptedException {
        try {
            lock.refresh(rest);
            lock.transferKey();
            return true;
        } catch (IllegalArgumentException e) {
            console.explain("the store cannot keep it that long without this process: "
                    + Text.oneLine(String.valueOf(e.getMessage())));
            sitOut(rest);
            return false;
        } catch (IllegalStateException e) {
            // Lost since the refresh, for example by a freeze: the release reports it.
            return false;
        }
    }

    private void sitOut(Duration rest) throws InterruptedException {
        long end = System.nanoTime() + rest.toNanos();
        while (true) {
            Optional<Event> event = inbox.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            // A signal ends the command now; a loss is reported by the release.
            if (event.isEmpty() || event.get() instanceof Event.Signalled || event.get() instanceof Event.Lost) {
                return;
            }
        }
    }

    /** Without a lease, nobody would ever release the lock. */
    private boolean canBeLeftToTheStore(Duration rest) {
        return rest.compareTo(TOO_SHORT_TO_LEAVE) >= 0
                && AcquireTask.travels(lock)
                && lock.remainingLifetime().isPresent();
    }
}

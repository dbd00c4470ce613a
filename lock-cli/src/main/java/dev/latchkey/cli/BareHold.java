package dev.latchkey.cli;

import dev.latchkey.Lock;
import dev.latchkey.console.Text;
import java.io.IOException;
import java.io.InputStream;

/** Holds a lock without running a command. */
final class BareHold {

    private final AcquireAnswer.Acquired held;
    private final Inbox inbox;
    private final Console console;

    BareHold(AcquireAnswer.Acquired held, Inbox inbox, Console console) {
        this.held = held;
        this.inbox = inbox;
        this.console = console;
    }

    /** Reports that the lock is held, holds it until a signal or, if requested, the end of stdin, and releases it. */
    int untilToldToEnd(String line, boolean untilEof) throws InterruptedException {
        Lock lock = held.lock();
        String name = Text.quoted(lock.key().resource());
        try {
            // Checked last: a process that was frozen since the grant may not know of its loss yet.
            if (lock.isExpired()) {
                console.say("lost the lock " + name + " before this could be reported");
                return ExitCode.LOST.number();
            }
            console.answer(line, inbox);
            while (true) {
                Event event = inbox.next();
                if (event instanceof Event.Printed printed) {
                    afterAnswer(printed, untilEof);
                }
                if (event instanceof Event.Lost lost) {
                    console.say("lost the lock " + name + " (" + lost.reason() + "): somebody else may hold it now");
                    return ExitCode.LOST.number();
                }
                if (event instanceof Event.Signalled || event instanceof Event.InputEnded) {
                    return release(lock, name);
                }
            }
        } finally {
            held.locks().close();
        }
    }

    /** Follows stdin only now, so that an input that has ended already does not come before the answer. */
    private void afterAnswer(Event.Printed printed, boolean untilEof) {
        if (!printed.isWritten()) {
            throw Console.notWritten();
        }
        if (untilEof) {
            Threads.startDaemon("lock-stdin", () -> awaitEndOfInput(inbox));
        }
    }

    private int release(Lock lock, String name) {
        if (lock.release()) {
            return ExitCode.OK.number();
        }
        console.say("the lock " + name + " was no longer held when it was to be released");
        return ExitCode.LOST.number();
    }

    private static void awaitEndOfInput(Inbox inbox) {
        byte[] ignored = new byte[1024];
        InputStream input = System.in;
        try {
            while (input.read(ignored) >= 0) {
                // Only the end of the input matters.
            }
        } catch (IOException e) {
            // A stdin that cannot be read counts as ended.
        }
        inbox.add(new Event.InputEnded());
    }
}

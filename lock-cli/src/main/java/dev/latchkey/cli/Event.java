package dev.latchkey.cli;

import dev.latchkey.LossReason;
import dev.latchkey.cli.top.Keystroke;
import dev.latchkey.cli.top.Reading;
import java.time.Duration;

/** The events of the main thread. All arrive in one {@link Inbox}, so they do not race. */
sealed interface Event {

    /**
     * This process received a signal.
     *
     * @param nanoTime when
     */
    record Signalled(UnixSignal signal, long nanoTime) implements Event {}

    /** The wait for the lock is over. */
    record Answered(AcquireAnswer answer) implements Event {}

    /** The lock was lost. */
    record Lost(LossReason reason) implements Event {}

    /**
     * The lease of the lock was not renewed, and ends soon.
     *
     * @param endNanos when, by {@link System#nanoTime()}: it may have to wait until it is handled
     */
    record LeaseEnding(long endNanos) implements Event {

        static LeaseEnding in(Duration left) {
            return new LeaseEnding(System.nanoTime() + left.toNanos());
        }
    }

    /** The child process ended, with the code a shell would report. */
    record ChildEnded(int exitCode) implements Event {}

    /**
     * The answer is no longer on its way to stdout.
     *
     * @param isWritten false if it could not be written
     */
    record Printed(boolean isWritten) implements Event {}

    /** A key was pressed. */
    record Pressed(Keystroke key) implements Event {}

    /** The terminal has another size. */
    record Resized() implements Event {}

    /** The store was read. */
    record StoreRead(Reading reading) implements Event {}

    /** The store could not be read. */
    record StoreFailed(String message) implements Event {}

    /** There is something to say. */
    record Noted(String line) implements Event {}

    /** Standard input has ended. */
    record InputEnded() implements Event {}
}

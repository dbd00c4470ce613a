package dev.latchkey.cli;

import dev.latchkey.LossReason;

/** What the main thread waits for. All of it arrives in one {@link EventQueue}, so that no two of it race. */
sealed interface Event {

    /**
     * A signal came for this process.
     *
     * @param nanoTime when
     */
    record Signalled(UnixSignal signal, long nanoTime) implements Event {}

    /** The waiting for the lock is over. */
    record Answered(AcquireAnswer answer) implements Event {}

    /** The lock is no longer ours, and not because we released it. */
    record Lost(LossReason reason) implements Event {}

    /** The child process ended, with the code a shell would report. */
    record ChildEnded(int exitCode) implements Event {}

    /** Nobody can write to our standard input any more. */
    record InputEnded() implements Event {}
}

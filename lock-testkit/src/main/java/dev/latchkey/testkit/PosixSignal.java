package dev.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;

/** A signal that a process cannot refuse. */
public enum PosixSignal {
    /** Ends it at once. */
    KILL,
    /** Suspends it. */
    STOP,
    /** Lets it go on. */
    CONT;

    /**
     * Sends this signal.
     *
     * @param pid the process
     */
    public void sendTo(long pid) {
        try {
            int exit = new ProcessBuilder("kill", "-" + name(), Long.toString(pid))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new AssertionError("kill -" + name() + " " + pid + " ended with " + exit);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no command \"kill\" on this machine", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while sending a signal", e);
        }
    }
}

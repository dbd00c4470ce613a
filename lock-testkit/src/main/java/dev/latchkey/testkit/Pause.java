package dev.latchkey.testkit;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A place where calls wait until the test lets them go on. Thread-safe. */
public final class Pause {

    private static final long LIMIT_SECONDS = TimeLimits.LIMIT.toSeconds();

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Makes a pause that nobody has reached. */
    public Pause() {}

    /**
     * Waits until the first call has come here.
     *
     * @throws AssertionError if none comes within {@link TimeLimits#LIMIT}
     * @throws InterruptedException if interrupted
     */
    public void awaitReached() throws InterruptedException {
        if (!reached.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no call reached the pause within " + LIMIT_SECONDS + " s");
        }
    }

    /** Lets the calls that wait here, and all later ones, go on. */
    public void end() {
        ended.countDown();
    }

    /** Waits for {@link #end()}, whatever the thread's interrupt flag says, and keeps the flag. */
    void pass() {
        reached.countDown();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    if (!ended.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                        throw new AssertionError("the pause was not ended within " + LIMIT_SECONDS + " s");
                    }
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

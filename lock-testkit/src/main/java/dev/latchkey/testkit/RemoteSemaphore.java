package dev.latchkey.testkit;

import java.time.Duration;

/** A {@link dev.latchkey.semaphore.Semaphore} in a {@link SecondProcess}, which keeps what it acquires. */
public final class RemoteSemaphore {

    private final SecondProcess process;
    private final String name;

    RemoteSemaphore(SecondProcess process, String name) {
        this.process = process;
        this.name = name;
    }

    /**
     * Acquires permits if they are free.
     *
     * @param count how many
     * @return whether they were acquired
     */
    public boolean tryAcquire(int count) {
        return startAcquire(count, Duration.ZERO).isYes();
    }

    /**
     * Begins to wait for permits.
     *
     * @param count how many
     * @param maxWait how long at the most
     * @return yes once they are held, no when the wait is over
     */
    public Reply startAcquire(int count, Duration maxWait) {
        return process.send("permits", name, Integer.toString(count), maxWait.toString());
    }
}

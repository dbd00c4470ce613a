package dev.latchkey.benchmarks;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A thread that reads, and writes so often that one of all threads does each 100 ms. */
final class MostlyReading implements Cycle {

    static final int JVMS = 4;
    static final int THREADS = 2;

    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100) * JVMS * THREADS;

    private final Cycle read;
    private final Cycle write;
    private long nextWriteNanos =
            System.nanoTime() + ThreadLocalRandom.current().nextLong(PERIOD_NANOS);
    private Cycle current;

    MostlyReading(Cycle read, Cycle write) {
        this.read = read;
        this.write = write;
        this.current = read;
    }

    @Override
    public void take() throws Exception {
        current = isToWrite() ? write : read;
        current.take();
    }

    /** Whether a write is due. One that came due while others had their turn is left out: all threads would begin with it. */
    private boolean isToWrite() {
        long late = System.nanoTime() - nextWriteNanos;
        if (late < 0) {
            return false;
        }
        nextWriteNanos += (late / PERIOD_NANOS + 1) * PERIOD_NANOS;
        return late < PERIOD_NANOS / 2;
    }

    @Override
    public boolean giveUp() throws Exception {
        return current.giveUp();
    }
}

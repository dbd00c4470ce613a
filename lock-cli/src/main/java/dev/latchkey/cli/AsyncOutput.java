package dev.latchkey.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Writes on a thread of its own: whoever reads may be stuck, and what has to be done, such as to end a command whose lock is
 * lost, must not wait for what is said of it. What is too much to keep meanwhile is dropped.
 */
final class AsyncOutput extends OutputStream {

    /** Each a line, or 8 KiB of one. */
    private static final int MAX_WAITING = 1024;

    private final OutputStream out;
    private final ThreadPoolExecutor writer = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            task -> Threads.daemon("lock-output", task),
            new ThreadPoolExecutor.DiscardPolicy());

    AsyncOutput(OutputStream out) {
        this.out = out;
        // Now: where the limit of processes is reached, no thread can be made any more.
        writer.prestartAllCoreThreads();
    }

    @Override
    public void write(int one) {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        byte[] copy = Arrays.copyOfRange(bytes, offset, offset + length);
        writer.execute(() -> writeNow(copy));
    }

    private void writeNow(byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException e) {
            // Nobody is left to be told.
        }
    }

    /** Waits until all is written, but no longer than this. */
    void drain(Duration maxWait) {
        try {
            Object unused = writer.submit(() -> {}).get(maxWait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // Whoever does not read by now does not want to know.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

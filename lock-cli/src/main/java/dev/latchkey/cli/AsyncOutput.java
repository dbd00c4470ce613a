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
 * Writes on a separate thread: the reader may be stuck, and nothing important, such as ending a command whose lock is lost, may
 * wait for its messages. Messages that exceed the buffer are dropped.
 */
final class AsyncOutput extends OutputStream {

    /** Each element is a line, or 8 KiB of one. */
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
        // Started now, because at the limit of processes no thread can be created.
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
            // There is no reader left.
        }
    }

    /** Waits until everything is written, but no longer than this. */
    void drain(Duration maxWait) {
        try {
            Object unused = writer.submit(() -> {}).get(maxWait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // A reader that is too late misses the rest.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

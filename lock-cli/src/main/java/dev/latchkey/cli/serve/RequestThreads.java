package dev.latchkey.cli.serve;

import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that read requests and answer them. The HTTP server of the JDK reads a request on the thread that answers it:
 * clients that send half of one, or do not read what they asked for, would take all threads. When there is none left, the one
 * that has waited for its client for longest gives up; a client that does its part is waited for no time. Thread-safe.
 */
final class RequestThreads implements Executor, AutoCloseable {

    /** More requests than that are refused. */
    private static final int LONGEST_QUEUE = 1_000;

    private final int most;
    private final long graceNanos;
    private final ThreadPoolExecutor threads;

    private final Object guard = new Object();

    /** Those that wait for their client at most, the one that began first at the beginning, and since when. */
    private final Map<Thread, Long> expendable = new LinkedHashMap<>();

    /** Those that wait for the store, and give up where no client is waited for; since when. */
    private final Map<Thread, Long> waiting = new LinkedHashMap<>();

    /** Those that are about to end, interrupted by us. */
    private final Set<Thread> interrupted = new HashSet<>();

    private int unfinished;

    /**
     * Creates them.
     *
     * @param grace how long none gives up: a client that does its part needs less, also among many that come at once
     */
    RequestThreads(int most, Duration grace) {
        this.most = most;
        graceNanos = grace.toNanos();
        threads = new ThreadPoolExecutor(
                most, most, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(LONGEST_QUEUE), RequestThreads::daemon);
        threads.allowCoreThreadTimeOut(true);
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "lock-serve");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void execute(Runnable exchange) {
        synchronized (guard) {
            unfinished++;
            makeRoom();
        }
        try {
            threads.execute(() -> run(exchange));
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            synchronized (guard) {
                unfinished--;
            }
            throw e;
        }
    }

    private void run(Runnable exchange) {
        synchronized (guard) {
            expendable.put(Thread.currentThread(), System.nanoTime());
        }
        try {
            exchange.run();
        } finally {
            synchronized (guard) {
                expendable.remove(Thread.currentThread());
                waiting.remove(Thread.currentThread());
                interrupted.remove(Thread.currentThread());
                unfinished--;
            }
        }
    }

    /** The calling thread does nothing from now on but wait for its client, as it does at its begin. */
    void beExpendable() {
        synchronized (guard) {
            waiting.remove(Thread.currentThread());
            expendable.put(Thread.currentThread(), System.nanoTime());
            makeRoom();
        }
    }

    /** The calling thread waits for the store, which may take as long as it likes. */
    void beWaiting() {
        synchronized (guard) {
            waiting.put(Thread.currentThread(), System.nanoTime());
            makeRoom();
        }
    }

    /** The calling thread has the whole request, and is not interrupted from now on. */
    void beNeeded() {
        synchronized (guard) {
            expendable.remove(Thread.currentThread());
        }
    }

    /** To be called again and again: what was in its grace before may give up now. */
    void makeRoom() {
        synchronized (guard) {
            interruptOldest(expendable);
            interruptOldest(waiting);
        }
    }

    /** An interrupt closes the channel of its thread. */
    private void interruptOldest(Map<Thread, Long> some) {
        long now = System.nanoTime();
        Iterator<Map.Entry<Thread, Long>> oldest = some.entrySet().iterator();
        while (unfinished - interrupted.size() > most && oldest.hasNext()) {
            Map.Entry<Thread, Long> next = oldest.next();
            if (now - next.getValue() < graceNanos) {
                return;
            }
            Thread thread = next.getKey();
            oldest.remove();
            interrupted.add(thread);
            thread.interrupt();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

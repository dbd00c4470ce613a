package dev.latchkey.events;

import dev.latchkey.LockListener;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the listeners of a factory have not heard yet. They are told later, in the order of the events, by one thread: who adds
 * an event may hold guards, and does not wait for anybody.
 */
final class EventQueue {

    static final int LARGEST = 100_000;

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LockFactory");

    private final List<LockListener> listeners;
    private final Executor later;
    private final Queue<Consumer<? super LockListener>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicBoolean isScheduled = new AtomicBoolean();
    private final AtomicBoolean isDropTold = new AtomicBoolean();

    EventQueue(List<LockListener> listeners, Executor later) {
        this.listeners = List.copyOf(listeners);
        this.later = later;
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    void add(Consumer<? super LockListener> event) {
        if (!hasListeners()) {
            return;
        }
        if (queued.incrementAndGet() > LARGEST) {
            queued.decrementAndGet();
            drop();
            return;
        }
        queue.add(event);
        if (!isScheduled.get() && isScheduled.compareAndSet(false, true)) {
            schedule();
        }
    }

    private void schedule() {
        try {
            later.execute(this::deliver);
        } catch (OutOfMemoryError e) {
            // No thread is to be had. No call fails for that: the next event tries again.
            isScheduled.set(false);
        }
    }

    private void drop() {
        if (isDropTold.compareAndSet(false, true)) {
            log.warn("lock.events_dropped undelivered={}: a LockListener does not return", LARGEST);
        }
    }

    private void deliver() {
        // Before the look at the queue: who adds something after it has this scheduled again.
        isScheduled.set(false);
        Consumer<? super LockListener> event = queue.poll();
        while (event != null) {
            queued.decrementAndGet();
            for (LockListener listener : listeners) {
                deliver(event, listener);
            }
            event = queue.poll();
        }
    }

    private static void deliver(Consumer<? super LockListener> event, LockListener listener) {
        try {
            event.accept(listener);
        } catch (Throwable e) {
            // Also an Error: those after it are told all the same.
            log.error("lock.listener_failed listener={}", listener.getClass().getName(), e);
        }
    }
}

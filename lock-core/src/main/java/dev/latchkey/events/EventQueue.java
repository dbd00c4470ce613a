package dev.latchkey.events;

import dev.latchkey.LockListener;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the listeners of a factory have not heard yet. They are told later, in the order of the events, by one thread: who adds
 * an event may hold guards, and does not wait for anybody.
 *
 * <p>If listeners do not return, events are dropped, but never one of two that belong together: what was told to begin is told to
 * end, so that listeners who count come to the right numbers again.
 */
final class EventQueue {

    static final int LARGEST = 100_000;

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LockFactory");

    private final List<LockListener> listeners;
    private final Executor later;
    private final Executor logger;
    private final Queue<Consumer<? super LockListener>> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicBoolean isScheduled = new AtomicBoolean();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicBoolean isFull = new AtomicBoolean();

    EventQueue(List<LockListener> listeners, Executor later, Executor logger) {
        this.listeners = List.copyOf(listeners);
        this.later = later;
        this.logger = logger;
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    /** Returns whether listeners will hear of it: false if there are none, or it is dropped. */
    boolean add(Consumer<? super LockListener> event) {
        if (!hasListeners()) {
            return false;
        }
        if (queued.get() >= LARGEST) {
            drop();
            return false;
        }
        addAnyway(event);
        return true;
    }

    /**
     * Adds the end of something. There are no more of these than of what has begun, so that they need no limit.
     *
     * @param isBeginHeard what {@link #add} has returned for its begin
     */
    void addEnd(boolean isBeginHeard, Consumer<? super LockListener> event) {
        if (isBeginHeard) {
            addAnyway(event);
        } else if (hasListeners()) {
            dropped.incrementAndGet();
            scheduleOnce();
        }
    }

    private void addAnyway(Consumer<? super LockListener> event) {
        queued.incrementAndGet();
        queue.add(event);
        scheduleOnce();
    }

    private void scheduleOnce() {
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
        dropped.incrementAndGet();
        if (isFull.compareAndSet(false, true)) {
            logger.execute(
                    () -> log.warn("lock.events_dropped undelivered={}: a LockListener does not return", LARGEST));
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
        deliverDropped(dropped.getAndSet(0));
    }

    private void deliverDropped(long number) {
        if (isFull.getAndSet(false)) {
            log.warn("lock.events_dropped dropped={}: listeners hear again", number);
        }
        if (number > 0) {
            LockListener.Dropped event = new LockListener.Dropped(number);
            listeners.forEach(listener -> deliver(one -> one.dropped(event), listener));
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

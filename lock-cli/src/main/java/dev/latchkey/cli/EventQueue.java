package dev.latchkey.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The events for the main thread, in the order they came. Thread-safe. */
final class EventQueue {

    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

    void add(Event event) {
        events.add(event);
    }

    Event next() throws InterruptedException {
        return events.take();
    }

    /** Returns the next event; empty when there is none in time. */
    Optional<Event> next(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(events.poll(maxWait.toNanos(), TimeUnit.NANOSECONDS));
    }
}

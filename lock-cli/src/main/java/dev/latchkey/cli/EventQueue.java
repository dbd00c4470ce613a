package dev.latchkey.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;

/**
 * The events for the main thread, in the order they came, but a loss before all others. A signal that waits already is not
 * added once more, as in the kernel: signals may come faster than they can be handled. Thread-safe.
 */
final class EventQueue {

    /** Whoever signals the process and then its group, as timeout(1) does, means one TERM; a later one means another thing. */
    static final long SAME_TERM_NANOS = Duration.ofMillis(100).toNanos();

    private final LinkedBlockingDeque<Event> events = new LinkedBlockingDeque<>();

    void add(Event event) {
        if (event instanceof Event.Lost) {
            events.addFirst(event);
        } else if (!(event instanceof Event.Signalled signalled && isWaiting(signalled))) {
            events.addLast(event);
        }
    }

    private boolean isWaiting(Event.Signalled signalled) {
        return events.stream()
                .anyMatch(event -> event instanceof Event.Signalled waiting
                        && waiting.signal() == signalled.signal()
                        && (signalled.signal() != UnixSignal.TERM
                                || signalled.nanoTime() - waiting.nanoTime() <= SAME_TERM_NANOS));
    }

    Event next() throws InterruptedException {
        return events.take();
    }

    /** Returns the next event; empty when there is none in time. */
    Optional<Event> next(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(events.poll(maxWait.toNanos(), TimeUnit.NANOSECONDS));
    }
}

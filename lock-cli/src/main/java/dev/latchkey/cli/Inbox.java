package dev.latchkey.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;

/**
 * The events for the main thread, in the order of their arrival, but a loss, or that one is near, before all others. As in the
 * kernel, a pending signal is not added again, because signals may arrive faster than they are handled. Thread-safe.
 */
final class Inbox {

    /**
     * A TERM to the process and then to its group, as timeout(1) sends them, counts as one; a later TERM is another one. On a busy
     * machine there is time between the two, and another one would kill the child.
     */
    static final long SAME_TERM_NANOS = Duration.ofSeconds(1).toNanos();

    private final LinkedBlockingDeque<Event> events = new LinkedBlockingDeque<>();

    private final Set<UnixSignal> got = ConcurrentHashMap.newKeySet();

    void add(Event event) {
        if (event instanceof Event.Signalled signalled) {
            got.add(signalled.signal());
        }
        if (event instanceof Event.Lost || event instanceof Event.LeaseEnding) {
            events.addFirst(event);
        } else if (!(event instanceof Event.Signalled signalled && isWaiting(signalled))) {
            events.addLast(event);
        }
    }

    /** Returns whether this process has received a signal since its start. */
    boolean hasGot(UnixSignal signal) {
        return got.contains(signal);
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

    /** Returns the next event; empty if there is none in time. */
    Optional<Event> next(Duration maxWait) throws InterruptedException {
        return Optional.ofNullable(events.poll(maxWait.toNanos(), TimeUnit.NANOSECONDS));
    }
}

package dev.latchkey;

import dev.latchkey.spi.Request;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one waiter of this factory ask the store at a time: per resource only the head of a first-in, first-out line
 * polls, so that a thousand waiting threads cost the server no more than one.
 */
final class Gate {

    /** Guards the lines, and all places in them. */
    private final ReentrantLock guard = new ReentrantLock();

    private final Map<String, Deque<Place>> lines = new HashMap<>();

    boolean hasLine(String resource) {
        guard.lock();
        try {
            return lines.containsKey(resource);
        } finally {
            guard.unlock();
        }
    }

    Place join(Request request, CompletionStage<?> withdrawn) {
        Place place = new Place(this, guard, request);
        guard.lock();
        try {
            lines.computeIfAbsent(place.resource(), name -> new ArrayDeque<>()).addLast(place);
        } finally {
            guard.unlock();
        }
        withdrawn.thenRun(place::withdraw);
        return place;
    }

    /** The next may try at once, unless it would only meet the exclusive hold just granted. */
    void leave(Place place) {
        guard.lock();
        try {
            boolean wasHead = isHead(place);
            lines.computeIfPresent(place.resource(), (name, line) -> {
                line.remove(place);
                return line.isEmpty() ? null : line;
            });
            if (wasHead) {
                head(place.resource()).ifPresent(next -> next.becomeHeadAfter(place));
            }
        } finally {
            guard.unlock();
        }
    }

    /** A lock of this JVM was released: the head need not pause any longer. */
    void released(String resource) {
        guard.lock();
        try {
            head(resource).ifPresent(Place::tryNow);
        } finally {
            guard.unlock();
        }
    }

    /** Somebody elsewhere waits for what was released here: the head lets them ask first. */
    void releasedForOthers(String resource) {
        guard.lock();
        try {
            head(resource).ifPresent(Place::trySoon);
        } finally {
            guard.unlock();
        }
    }

    /**
     * Chooses the head to be passed an exclusive hold, if it waits for one and does not ask for itself just now. It then
     * waits until it is answered, whatever else happens.
     */
    Optional<Place> choose(String resource) {
        guard.lock();
        try {
            return head(resource).filter(Place::choose);
        } finally {
            guard.unlock();
        }
    }

    int waiters() {
        guard.lock();
        try {
            return lines.values().stream().mapToInt(Deque::size).sum();
        } finally {
            guard.unlock();
        }
    }

    /** For a place, inside the guard. */
    boolean isHead(Place place) {
        return head(place.resource()).filter(head -> head == place).isPresent();
    }

    private Optional<Place> head(String resource) {
        return Optional.ofNullable(lines.get(resource)).map(Deque::peekFirst);
    }
}

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
final class LocalWaitQueue {

    /** Guards the lines, and all places in them. */
    private final ReentrantLock guard = new ReentrantLock();

    private final Map<String, Deque<LocalWaiter>> lines = new HashMap<>();

    boolean hasLine(String resource) {
        guard.lock();
        try {
            return lines.containsKey(resource);
        } finally {
            guard.unlock();
        }
    }

    LocalWaiter join(Request request, CompletionStage<?> withdrawn) {
        LocalWaiter waiter = new LocalWaiter(this, guard, request);
        guard.lock();
        try {
            lines.computeIfAbsent(waiter.resource(), name -> new ArrayDeque<>()).addLast(waiter);
        } finally {
            guard.unlock();
        }
        withdrawn.thenRun(waiter::withdraw);
        return waiter;
    }

    /** The next may try at once, unless it would only meet the exclusive hold just granted. */
    void leave(LocalWaiter waiter) {
        guard.lock();
        try {
            boolean wasHead = isHead(waiter);
            lines.computeIfPresent(waiter.resource(), (name, line) -> {
                line.remove(waiter);
                return line.isEmpty() ? null : line;
            });
            if (wasHead) {
                head(waiter.resource()).ifPresent(next -> next.becomeHeadAfter(waiter));
            }
        } finally {
            guard.unlock();
        }
    }

    /** A lock of this JVM was released: the head need not pause any longer. */
    void released(String resource) {
        guard.lock();
        try {
            head(resource).ifPresent(LocalWaiter::tryNow);
        } finally {
            guard.unlock();
        }
    }

    /** Somebody elsewhere waits for what was released here: the head lets them ask first. */
    void releasedForOthers(String resource) {
        guard.lock();
        try {
            head(resource).ifPresent(LocalWaiter::trySoon);
        } finally {
            guard.unlock();
        }
    }

    /**
     * Chooses the head to be passed an exclusive hold, if it waits for one and does not ask for itself just now. It then
     * waits until it is answered, whatever else happens.
     */
    Optional<LocalWaiter> choose(String resource) {
        guard.lock();
        try {
            return head(resource).filter(LocalWaiter::choose);
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
    boolean isHead(LocalWaiter waiter) {
        return head(waiter.resource()).filter(head -> head == waiter).isPresent();
    }

    private Optional<LocalWaiter> head(String resource) {
        return Optional.ofNullable(lines.get(resource)).map(Deque::peekFirst);
    }
}

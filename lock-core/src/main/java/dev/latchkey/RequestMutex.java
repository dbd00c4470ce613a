package dev.latchkey;

import java.util.concurrent.locks.ReentrantLock;

/**
 * One request in flight for what one Lock holds: whoever asks the store about it waits until the last request was answered or
 * has failed. Begun inside the Lock's {@link OperationMutex}, if in both. A wait for promotion is not in flight, for it may last: it
 * neither ends a lease sooner nor minds being overtaken by what does.
 */
final class RequestMutex {

    /** Fair, so that a thread that refreshes in a loop does not keep another from releasing. */
    private final ReentrantLock guard = new ReentrantLock(true);

    /** Waits for the end of the request that is in flight, which lasts no longer than the store's own limit. */
    void begin() {
        guard.lock();
    }

    /** Begins unless a request is in flight. */
    boolean beginsAtOnce() {
        return !guard.isHeldByCurrentThread() && guard.tryLock();
    }

    void end() {
        guard.unlock();
    }
}

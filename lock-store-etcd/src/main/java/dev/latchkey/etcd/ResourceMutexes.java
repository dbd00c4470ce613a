package dev.latchkey.etcd;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets the threads of this process step into the line of a resource in the order in which they come. Of two requests that are
 * on their way at once, the server may serve the later one first.
 */
final class ResourceMutexes {

    private final Map<String, Mutex> mutexes = new ConcurrentHashMap<>();

    private record Mutex(ReentrantLock lock, int users) {

        Mutex with(int more) {
            return new Mutex(lock, users + more);
        }
    }

    /** What is done by one thread at a time. */
    interface Step<T> {

        T take();
    }

    /** Takes a step after those who came before, or without regard to them when that takes too long. */
    <T> T inOrder(String resource, long maxWaitNanos, Step<T> step) throws InterruptedException {
        ReentrantLock lock = mutexes.compute(
                        resource,
                        (name, known) -> known == null ? new Mutex(new ReentrantLock(true), 1) : known.with(1))
                .lock();
        try {
            boolean isLocked = lock.tryLock(maxWaitNanos, TimeUnit.NANOSECONDS);
            try {
                return step.take();
            } finally {
                if (isLocked) {
                    lock.unlock();
                }
            }
        } finally {
            mutexes.computeIfPresent(resource, (name, known) -> known.users() == 1 ? null : known.with(-1));
        }
    }
}

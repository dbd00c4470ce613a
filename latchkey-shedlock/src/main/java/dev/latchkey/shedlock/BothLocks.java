package dev.latchkey.shedlock;

import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** Takes the lock of an old provider and that of a new one, always in this order. */
record BothLocks(LockProvider first, LockProvider second) implements LockProvider {

    /** Both are held. */
    private record Held(SimpleLock first, SimpleLock second) implements SimpleLock {

        @Override
        public void unlock() {
            try {
                second.unlock();
            } catch (RuntimeException | Error e) {
                BothLocks.unlock(first, e);
                throw e;
            }
            first.unlock();
        }
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        return first.lock(configuration).flatMap(held -> lockSecond(configuration, held));
    }

    private Optional<SimpleLock> lockSecond(LockConfiguration configuration, SimpleLock held) {
        Optional<SimpleLock> both;
        try {
            both = second.lock(configuration).map(other -> new Held(held, other));
        } catch (RuntimeException | Error e) {
            unlock(held, e);
            throw e;
        }
        if (both.isEmpty()) {
            held.unlock();
        }
        return both;
    }

    private static void unlock(SimpleLock held, Throwable failure) {
        try {
            held.unlock();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}

package dev.latchkey.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Takes the lock of a new provider and that of an old one, always in this order. The new one is kept for
 * {@code lockAtLeastFor} only once both are held: what is given back because the other was refused is free at once, whichever
 * it was.
 */
record BothLocks(ExtensibleLockProvider latest, LockProvider old) implements LockProvider {

    /** Both are held. */
    private record Held(SimpleLock latest, SimpleLock old) implements SimpleLock {

        @Override
        public void unlock() {
            try {
                old.unlock();
            } catch (RuntimeException | Error e) {
                BothLocks.unlock(latest, e);
                throw e;
            }
            latest.unlock();
        }
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        Duration atMost = configuration.getLockAtMostFor();
        Instant created = configuration.getLockAtMostUntil().minus(atMost);
        LockConfiguration notKept = new LockConfiguration(created, configuration.getName(), atMost, Duration.ZERO);
        return latest.lock(notKept).flatMap(held -> lockOld(configuration, held));
    }

    private Optional<SimpleLock> lockOld(LockConfiguration configuration, SimpleLock held) {
        Optional<SimpleLock> other;
        try {
            other = old.lock(configuration);
        } catch (RuntimeException | Error e) {
            unlock(held, e);
            throw e;
        }
        if (other.isEmpty()) {
            held.unlock();
        }
        return other.flatMap(one -> both(configuration, held, one));
    }

    private static Optional<SimpleLock> both(LockConfiguration configuration, SimpleLock held, SimpleLock other) {
        if (configuration.getLockAtLeastFor().isZero()) {
            return Optional.of(new Held(held, other));
        }
        Optional<SimpleLock> kept;
        try {
            kept = held.extend(configuration.getLockAtMostFor(), configuration.getLockAtLeastFor());
        } catch (RuntimeException | Error e) {
            unlock(other, e);
            unlock(held, e);
            throw e;
        }
        if (kept.isEmpty()) {
            // The new one was lost meanwhile, and must not be unlocked after an extension, whether that succeeded or
            // not.
            other.unlock();
        }
        return kept.map(both -> new Held(both, other));
    }

    private static void unlock(SimpleLock held, Throwable failure) {
        try {
            held.unlock();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}

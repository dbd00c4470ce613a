package dev.latchkey.mongodb;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An estimate of the server's clock, for hints. It is read at most once a minute, and advanced by the monotonic clock in between.
 * Only the time at which a waiter asks again depends on it.
 */
final class ServerClock {

    private static final long GOOD_NANOS = Duration.ofMinutes(1).toNanos();

    private record Look(long nanos, long serverMillis) {

        long now() {
            return serverMillis + (System.nanoTime() - nanos) / 1_000_000;
        }
    }

    private final LockCommands documents;
    private volatile @Nullable Look last;

    ServerClock(LockCommands documents) {
        this.documents = documents;
    }

    /** Returns the time until a lease ends; zero if it is not known. */
    Duration until(long serverMillis, String resource) {
        Look look = last;
        if (look == null || System.nanoTime() - look.nanos() > GOOD_NANOS) {
            look = look(resource).orElse(null);
            last = look;
        }
        return look == null ? Duration.ZERO : Duration.ofMillis(Math.max(0, serverMillis - look.now()));
    }

    private Optional<Look> look(String resource) {
        long nanos = System.nanoTime();
        try {
            return documents.read(resource).map(read -> new Look(nanos, read.now()));
        } catch (LockStorageException e) {
            // The conflict is known already, and must not become a failure.
            return Optional.empty();
        }
    }
}

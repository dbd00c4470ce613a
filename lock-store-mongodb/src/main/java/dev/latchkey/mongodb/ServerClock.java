package dev.latchkey.mongodb;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the server's clock says about now, as far as a hint needs to know it: looked at once a minute at most, and reckoned
 * from there by the monotonic clock. Nothing depends on it but when a waiter asks again.
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

    /** How long it is until a lease ends; zero where that is not known. */
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
            // That another holds is known already, and a conflict is no failure.
            return Optional.empty();
        }
    }
}

package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ForcedReleasesTest {

    private static final int HOLDS = 300_000;

    private final KeyNames names = new KeyNames("lock:");
    private final ForcedReleases forced = new ForcedReleases(names);

    /** A hold is looked for by the timer of the store, and by whoever sweeps, from the first moment on. */
    @Test
    void givenOthersForgetWhatIsOver_whenHeldAndForced_thenEachHoldHearsOfIt() {
        AtomicBoolean ends = new AtomicBoolean();
        CompletableFuture<Void> looking = CompletableFuture.runAsync(() -> {
            while (!ends.get()) {
                boolean unused = forced.isAnyHeld();
            }
        });
        int heard = 0;
        try {
            for (int fence = 1; fence <= HOLDS; fence++) {
                var lost = watched(Key.of("a"), fence, Duration.ofMinutes(1));
                forced.message(Integer.toString(fence), names.keyText("a"));
                heard += lost.isDone() ? 1 : 0;
            }
        } finally {
            ends.set(true);
            looking.join();
        }

        assertThat(heard).isEqualTo(HOLDS);
    }

    /** A renewal by another Lock of the key, with a shorter TTL, does not end the lease sooner. */
    @Test
    void givenAnotherLockOfTheKeyWithAShortTtl_whenThatIsOver_thenTheFirstHearsOfTheForcedRelease() {
        Key key = Key.of("a");
        var lost = watched(key, 1, Duration.ofMinutes(1));
        var unused = watched(key, 1, Duration.ofNanos(1));

        assertThat(forced.isAnyHeld()).isTrue();
        forced.message("1", names.keyText("a"));

        assertThat(lost).isCompletedWithValue(LossReason.FORCED);
    }

    private CompletableFuture<LossReason> watched(Key key, long fence, Duration ttl) {
        CompletionStage<LossReason> lost = forced.watch(
                        key,
                        new Response.Granted(
                                LockMode.EXCLUSIVE, OptionalLong.of(fence), Lease.timed(System.nanoTime(), ttl)))
                .lease()
                .lost()
                .orElseThrow();
        return lost.toCompletableFuture();
    }
}

package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous acquires that are cancelled while the network loses what belongs to them: nothing stays held by them. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RedisAsyncFaultsIT extends BehindAProxy {

    /** Ends in no test: what is free is so because it was given back. */
    private static final Duration TTL = Duration.ofHours(5);

    private static final Duration LONG_WAIT = Duration.ofMinutes(30);

    private Lock lock() {
        return locks.createLock(RESOURCE, TTL);
    }

    private void assertIsFreeSoon() throws InterruptedException {
        assertThat(rivals.createLock(RESOURCE, TTL).tryAcquire(TimeLimits.LIMIT))
                .isTrue();
    }

    private void awaitWaiter() {
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.listening().size() == 1);
    }

    @Test
    void givenTheReplyToAGrantIsLost_whenNobodyCancels_thenAskedAgainAndHeld() throws Exception {
        CompletableFuture<Void> lost = proxy.loseReplyTo(RESOURCE);

        Lock held = lock().acquireAsync(LONG_WAIT).get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);

        assertThat(lost).isCompleted();
        assertThat(held.release()).isTrue();
    }

    @Test
    void givenTheReplyToAGrantIsLost_whenCancelledAtThatMoment_thenFree() throws Exception {
        for (int i = 0; i < 10; i++) {
            CompletableFuture<Void> lost = proxy.loseReplyTo(RESOURCE);
            CompletableFuture<Lock> acquiring = lock().acquireAsync(LONG_WAIT);
            lost.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);

            if (!acquiring.cancel(true)) {
                assertThat(acquiring.get().release()).isTrue();
            }

            Lock rival = rivals.createLock(RESOURCE, TTL);
            assertThat(rival.tryAcquire(TimeLimits.LIMIT)).as("time " + i).isTrue();
            assertThat(rival.release()).isTrue();
        }
    }

    @Test
    void givenTheNetworkIsSilent_whenCancelled_thenFreeOnceItIsHealed() throws Exception {
        proxy.silence();
        CompletableFuture<Lock> acquiring = lock().acquireAsync(LONG_WAIT);

        acquiring.cancel(true);
        proxy.heal();

        assertIsFreeSoon();
    }

    @Test
    void givenAWaiterWhoseGrantIsInTheAir_whenItIsCutOffAndCancelled_thenFree() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, TTL);
        assertThat(holder.tryAcquire()).isTrue();
        CompletableFuture<Lock> acquiring = lock().acquireAsync(LONG_WAIT);
        awaitWaiter();
        CompletableFuture<Void> cut = proxy.cutAtMessage(" x ");
        assertThat(holder.release()).isTrue();
        cut.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);

        if (!acquiring.cancel(true)) {
            assertThat(acquiring.get().release()).isTrue();
        }

        assertIsFreeSoon();
    }

    @Test
    void givenTheReplyToAReleaseIsLost_whenReleasedAsync_thenAFailureAndFree() throws Exception {
        Lock held = lock();
        // So that the server knows the script.
        assertThat(held.tryAcquire() && held.release()).isTrue();
        assertThat(held.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo(requestOf(Script.RELEASE));

        CompletableFuture<Boolean> releasing = held.releaseAsync();

        assertThatThrownBy(() -> releasing.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockStorageException.class);
        assertThat(lost).isCompleted();
        assertIsFreeSoon();
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An operator can end the hold of somebody else, and nothing but that one: for a {@link ForceReleaseStore}. */
@ContractFor(ForceReleaseStore.class)
public interface ForceReleaseStoreContract extends StoreContract {

    /**
     * Returns how often the end of a hold by force races with its release and the next acquire.
     *
     * @return 200 unless overridden
     */
    default int forceReleaseRaces() {
        return 200;
    }

    /**
     * Returns whether the holder hears at once that its hold was ended. If not, its next renewal tells.
     *
     * @return false unless overridden
     */
    default boolean tellsAtOnce() {
        return false;
    }

    @Test
    default void givenHeld_whenForced_thenFreeAndItsHolderHasLostIt(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();

        assertThat(store.forceRelease(fixture.resource(), token)).isTrue();

        assertThat(store.holders(fixture.resource())).isEmpty();
        assertThat(store.forceRelease(fixture.resource(), token)).isFalse();
        assertThatThrownBy(lock::refresh).isInstanceOf(LockLostException.class);
        assertThat(lock.isAcquired()).isFalse();
    }

    @Test
    default void givenHeld_whenForced_thenTheNextTokenIsGreater(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Key key = fixture.key();
        long token = token(store.save(exclusive(key)));
        assertThat(store.forceRelease(fixture.resource(), token)).isTrue();

        assertThat(token(store.save(exclusive(fixture.key())))).isGreaterThan(token);
        assertThat(store.delete(key)).isFalse();
    }

    @Test
    default void givenAnotherWaits_whenForced_thenItIsGrantedTheLock(Fixture fixture) throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        Lock next = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(next::acquire);

        assertThat(store.forceRelease(fixture.resource(), lock.fencingToken().orElseThrow()))
                .isTrue();

        assertThat(fixture.woken(waiting).isAcquired()).isTrue();
        assertThat(next.fencingToken().orElseThrow())
                .isGreaterThan(lock.key()
                        .held()
                        .map(Key.Held::fencingToken)
                        .map(t -> t.orElse(0))
                        .orElse(0L));
        assertThat(store.forceRelease(fixture.resource(), next.fencingToken().orElseThrow() - 1))
                .isFalse();
        assertThat(store.find(next.key())).isPresent();
    }

    @Test
    default void givenAnotherToken_whenForced_thenNothingChanges(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();

        for (long other : new long[] {token - 1, token + 1, 0, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertThat(store.forceRelease(fixture.resource(), other)).isFalse();
        }
        assertThat(store.forceRelease(fixture.resource() + "x", token)).isFalse();

        assertThat(lock.refresh().isAcquired()).isTrue();
    }

    /** The token of the last exclusive hold is nobody's any more, although the store may remember it. */
    @Test
    default void givenAReaderAfterAWriter_whenTheWritersTokenIsForced_thenTheReaderStays(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Key writer = fixture.key();
        long token = token(store.save(exclusive(writer)));
        assertThat(store.delete(writer)).isTrue();
        // Exclusively, in a store that does not share.
        Lock reader = fixture.lock();
        assertThat(reader.tryAcquireShared()).isTrue();

        assertThat(store.forceRelease(fixture.resource(), token)).isFalse();

        assertThat(store.find(reader.key())).isPresent();
    }

    @Test
    default void givenAListener_whenForced_thenItHearsOfIt(Fixture fixture) throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Duration ttl = tellsAtOnce() ? Fixture.LONG_TTL : workingTtl();
        CompletableFuture<LossReason> heard = new CompletableFuture<>();
        Lock lock = fixture.locks()
                .lock(fixture.resource())
                .ttl(ttl)
                .autoRefresh()
                .onLost(heard::complete)
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(store.forceRelease(fixture.resource(), lock.fencingToken().orElseThrow()))
                .isTrue();

        LossReason reason = heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        if (tellsAtOnce()) {
            assertThat(reason).isEqualTo(LossReason.FORCED);
        }
        assertThat(lock.isAcquired()).isFalse();
    }

    /** Every Lock over the key is the same owner, also one that did not know of the hold before, or of its promotion. */
    @Test
    default void givenAnotherLockOfTheKey_whenForced_thenItHearsOfItToo(Fixture fixture) throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Key key = fixture.key();
        // The other may hear of it only by its next renewal, where the store tells at once.
        Duration ttl = tellsAtOnce() ? Duration.ofSeconds(15) : workingTtl();
        CompletableFuture<LossReason> one = new CompletableFuture<>();
        CompletableFuture<LossReason> other = new CompletableFuture<>();
        Lock first = fixture.locks()
                .lock(key)
                .ttl(ttl)
                .autoRefresh()
                .onLost(one::complete)
                .create();
        Lock second = fixture.locks()
                .lock(key)
                .ttl(ttl)
                .autoRefresh()
                .onLost(other::complete)
                .create();
        assertThat(first.tryAcquireShared()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
        assertThat(first.tryAcquire()).isTrue();

        assertThat(store.forceRelease(fixture.resource(), first.fencingToken().orElseThrow()))
                .isTrue();

        for (CompletableFuture<LossReason> heard : List.of(one, other)) {
            LossReason reason = heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (tellsAtOnce()) {
                assertThat(reason).isEqualTo(LossReason.FORCED);
            }
        }
        assertThat(second.isAcquired()).isFalse();
    }

    /** Whatever its holder does at that moment, it is told that somebody has ended the hold, and why if the store tells at once. */
    @Test
    default void givenItsHolderAsksTheStore_whenForcedMeanwhile_thenItsReasonIsForced(Fixture fixture)
            throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        int races = tellsAtOnce() ? Math.min(2_000, forceReleaseRaces()) : 50;
        CyclicBarrier start = new CyclicBarrier(2);
        long[] tokens = new long[1];
        BackgroundCall<Integer> operator = fixture.start(() -> {
            int forced = 0;
            for (int i = 0; i < races; i++) {
                start.await();
                forced += store.forceRelease(fixture.resource(), tokens[0]) ? 1 : 0;
                start.await();
            }
            return forced;
        });

        List<LossReason> reasons = new ArrayList<>();
        int released = 0;
        for (int i = 0; i < races; i++) {
            CompletableFuture<LossReason> heard = new CompletableFuture<>();
            Lock lock = fixture.locks()
                    .lock(fixture.resource())
                    .ttl(Fixture.LONG_TTL)
                    .onLost(heard::complete)
                    .create();
            assertThat(lock.tryAcquire()).isTrue();
            tokens[0] = lock.fencingToken().orElseThrow();
            start.await();
            boolean isReleased = askUntilLost(lock, i % 3);
            start.await();
            if (!isReleased) {
                reasons.add(heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS));
            }
            released += isReleased ? 1 : 0;
        }

        assertThat(operator.result() + released).isEqualTo(races);
        assertThat(reasons).isNotEmpty().allMatch(this::isRight);
    }

    private boolean isRight(LossReason reason) {
        return !tellsAtOnce() || reason == LossReason.FORCED;
    }

    /** Returns whether it was released. */
    private boolean askUntilLost(Lock lock, int how) {
        try {
            boolean isHeld = how < 2;
            while (isHeld) {
                isHeld = how == 0 ? lock.refresh().isAcquired() : lock.isAcquired();
            }
            return how == 2 && lock.release();
        } catch (LockLostException e) {
            assertThat(e.reason()).matches(this::isRight);
            return false;
        }
    }

    /** However the calls interleave, the successor holds on. */
    @Test
    default void givenItsHolderReleasesAndAnotherAcquires_whenForcedMeanwhile_thenTheOtherHoldsStill(Fixture fixture)
            throws Exception {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        int races = forceReleaseRaces();
        CyclicBarrier start = new CyclicBarrier(2);
        long[] tokens = new long[1];
        BackgroundCall<Integer> operator = fixture.start(() -> {
            int forced = 0;
            for (int i = 0; i < races; i++) {
                start.await();
                forced += store.forceRelease(fixture.resource(), tokens[0]) ? 1 : 0;
                start.await();
            }
            return forced;
        });

        int released = 0;
        for (int i = 0; i < races; i++) {
            Key first = Key.of(fixture.resource());
            Response.Granted taken = granted(store.save(exclusive(first)));
            tokens[0] = taken.fencingToken().orElseThrow();
            start.await();
            released += store.delete(Requests.holding(first, taken)) ? 1 : 0;
            Key successor = Key.of(fixture.resource());
            Response.Granted next = granted(store.save(exclusive(successor)));
            start.await();
            assertThat(store.find(successor).orElseThrow().fencingToken()).isEqualTo(next.fencingToken());
            assertThat(store.delete(successor)).isTrue();
        }

        assertThat(operator.result() + released).isEqualTo(races);
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}

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
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
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

        assertThat(waiting.result().isAcquired()).isTrue();
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

    @Test
    default void givenAListener_whenForced_thenItHearsOfIt(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        CompletableFuture<LossReason> heard = new CompletableFuture<>();
        Lock lock = fixture.locks()
                .lock(fixture.resource())
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .onLost(heard::complete)
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(store.forceRelease(fixture.resource(), lock.fencingToken().orElseThrow()))
                .isTrue();

        assertThat(heard).succeedsWithin(TimeLimits.LIMIT);
        assertThat(lock.isAcquired()).isFalse();
    }

    /** Every Lock over the key is the same owner, also one that did not know of the hold before, or of its promotion. */
    @Test
    default void givenAnotherLockOfTheKey_whenForced_thenItHearsOfItToo(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Key key = fixture.key();
        CompletableFuture<LossReason> one = new CompletableFuture<>();
        CompletableFuture<LossReason> other = new CompletableFuture<>();
        Lock first = fixture.locks()
                .lock(key)
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .onLost(one::complete)
                .create();
        Lock second = fixture.locks()
                .lock(key)
                .ttl(Leases.ROOMY_TTL)
                .autoRefresh()
                .onLost(other::complete)
                .create();
        assertThat(first.tryAcquireShared()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
        assertThat(first.tryAcquire()).isTrue();

        assertThat(store.forceRelease(fixture.resource(), first.fencingToken().orElseThrow()))
                .isTrue();

        for (CompletableFuture<LossReason> heard : List.of(one, other)) {
            assertThat(heard).succeedsWithin(TimeLimits.LIMIT);
        }
        assertThat(second.isAcquired()).isFalse();
    }

    /** However the calls interleave, the successor holds on. */
    @Test
    @Tag("slow")
    default void givenItsHolderReleasesAndAnotherAcquires_whenForcedMeanwhile_thenTheOtherHoldsStill(Fixture fixture)
            throws Exception {
        PersistingStore store = fixture.store();
        int rounds = forceReleaseRaces();
        ForceRace race = new ForceRace(fixture, rounds);

        int released = 0;
        for (int i = 0; i < rounds; i++) {
            Key first = Key.of(fixture.resource());
            Response.Granted taken = granted(store.save(exclusive(first)));
            race.begin(taken.fencingToken().orElseThrow());
            released += store.delete(Requests.holding(first, taken)) ? 1 : 0;
            Key successor = Key.of(fixture.resource());
            Response.Granted next = granted(store.save(exclusive(successor)));
            race.end();
            assertThat(store.find(successor).orElseThrow().fencingToken()).isEqualTo(next.fencingToken());
            assertThat(store.delete(successor)).isTrue();
        }

        assertThat(race.forced() + released).isEqualTo(rounds);
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}

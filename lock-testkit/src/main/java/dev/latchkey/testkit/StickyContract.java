package dev.latchkey.testkit;

import static dev.latchkey.testkit.StickyLocks.STICKY;
import static dev.latchkey.testkit.StickyLocks.awaitNobodyHolds;
import static dev.latchkey.testkit.StickyLocks.sticky;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static dev.latchkey.testkit.StickyLocks.usedTokenAfterARecall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.RecallableStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Locks that stay with the factory that used them last, until another one asks: for a {@link RecallableStore}. */
@ContractFor(RecallableStore.class)
public interface StickyContract extends StickyKeyContract, StickyRivalContract {

    @Test
    default void givenReleased_whenAcquiredAgain_thenNobodyIsAskedAndTheTokenGrows(Fixture fixture) {
        CountedStore counted = new CountedStore(fixture.store(RecallableStore.class));
        LockFactory here = fixture.closing(new LockFactory(counted));
        Lock first = sticky(fixture, here);
        Lock second = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();
        long token = first.fencingToken().orElseThrow();
        assertThat(first.release()).isTrue();
        int before = counted.requests();

        List<Long> tokens = IntStream.range(0, 100)
                .mapToLong(i -> usedToken(i % 2 == 0 ? first : second))
                .boxed()
                .toList();

        assertThat(counted.requests()).isEqualTo(before);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(tokens.get(0)).isGreaterThan(token);
    }

    @Test
    default void givenKept_whenARivalAcquires_thenItIsGrantedWithAGreaterToken(Fixture fixture) throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);
        long token = usedToken(lock);
        long again = usedToken(lock);
        Lock rival = fixture.lock();

        assertThat(fixture.woken(fixture.start(() -> rival.tryAcquire(TimeLimits.LIMIT))))
                .isTrue();

        assertThat(again).isGreaterThan(token);
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(again);
        assertThat(lock.tryAcquire()).isFalse();
        assertThat(rival.release()).isTrue();
    }

    /** It waits for the recall, so that a lock that nobody uses is not refused. */
    @Test
    default void givenKept_whenARivalTries_thenItIsGranted(Fixture fixture) {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        assertThat(usedToken(sticky(fixture, here))).isPositive();
        Lock rival = fixture.lock();

        boolean isGranted = rival.tryAcquire();

        // On a busy machine the holder may need longer than the try waits.
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> isGranted || rival.tryAcquire());
    }

    @Test
    default void givenInUse_whenARivalTries_thenItIsRefusedAndTheReleaseIsReal(Fixture fixture) {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);
        assertThat(lock.tryAcquire()).isTrue();
        Lock rival = fixture.lock();
        assertThat(rival.tryAcquire()).isFalse();
        assertThat(lock.isAcquired()).isTrue();

        assertThat(lock.release()).isTrue();

        awaitNobodyHolds(fixture);
        assertThat(rival.tryAcquire()).isTrue();
    }

    @Test
    default void givenInUse_whenARivalWaits_thenItIsGrantedByTheRelease(Fixture fixture) throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        Lock rival = fixture.lock();
        BackgroundCall<Boolean> wait = fixture.startWaiting(() -> rival.tryAcquire(TimeLimits.LIMIT));

        assertThat(lock.release()).isTrue();

        assertThat(fixture.woken(wait)).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    default void givenTwoLocksOfOneFactory_whenOneHolds_thenTheOtherWaitsForItHere(Fixture fixture) throws Exception {
        CountedStore counted = new CountedStore(fixture.store(RecallableStore.class));
        LockFactory here = fixture.closing(new LockFactory(counted));
        Lock first = sticky(fixture, here);
        Lock second = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();
        long token = first.fencingToken().orElseThrow();
        int before = counted.requests();
        assertThat(second.tryAcquire()).isFalse();
        BackgroundCall<Boolean> wait = fixture.startWaiting(() -> second.tryAcquire(TimeLimits.LIMIT));

        assertThat(first.release()).isTrue();

        assertThat(fixture.woken(wait)).isTrue();
        assertThat(second.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(counted.requests()).isEqualTo(before);
        assertThat(first.tryAcquire()).isFalse();
        assertThat(first.isAcquired()).isFalse();
        assertThat(second.isAcquired()).isTrue();
    }

    @Test
    default void givenALockWaitsHere_whenItsTimeIsOver_thenItHoldsNothingAndTheHolderKeepsAll(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock first = sticky(fixture, here);
        Lock second = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();

        assertThat(second.tryAcquire(Duration.ofMillis(20))).isFalse();

        assertThat(second.isAcquired()).isFalse();
        assertThat(first.isAcquired()).isTrue();
        assertThat(first.release()).isTrue();
        assertThat(second.tryAcquire()).isTrue();
    }

    @Test
    default void givenALockWaitsHere_whenItIsInterrupted_thenTheNextIsGranted(Fixture fixture) throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock first = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();
        BackgroundCall<Boolean> interrupted =
                fixture.startWaiting(() -> sticky(fixture, here).tryAcquire(STICKY));
        Lock third = sticky(fixture, here);
        BackgroundCall<Boolean> wait = fixture.startWaiting(() -> third.tryAcquire(TimeLimits.LIMIT));

        interrupted.interrupt();

        assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
        assertThat(first.release()).isTrue();
        assertThat(fixture.woken(wait)).isTrue();
    }

    @Test
    default void givenRefreshed_whenAsked_thenTheTokenIsTheSameAndItIsKeptAfterwards(Fixture fixture) {
        CountedStore counted = new CountedStore(fixture.store(RecallableStore.class));
        LockFactory here = fixture.closing(new LockFactory(counted));
        Lock lock = sticky(fixture, here);
        assertThat(usedToken(lock)).isPositive();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();

        assertThat(lock.refresh().fencingToken()).hasValue(token);
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingToken()).hasValue(token);
        assertThat(lock.release()).isTrue();
        int before = counted.requests();
        assertThat(usedToken(lock)).isGreaterThan(token);
        assertThat(counted.requests()).isEqualTo(before);
    }

    /** One that goes back and forth is not kept: the next rival need not recall it. */
    @Test
    default void givenRecalledSoon_whenReleasedTheNextTime_thenItIsNotKept(Fixture fixture) {
        InspectableStore store = fixture.store(InspectableStore.class);
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = sticky(fixture, here);

        // Again where the recall, or the next use, has come more than a second later, as it may on a busy machine.
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> {
            assertThat(lock.tryAcquire(TimeLimits.LIMIT)).isTrue();
            assertThat(fixture.lock().tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            assertThat(usedTokenAfterARecall(lock)).isPositive();
            return store.holders(fixture.resource()).isEmpty();
        });
    }

    /** One that is used several times before each recall stays worth keeping, however often it is recalled. */
    @Test
    default void givenUsedOftenAndRecalledSoon_whenReleasedTheNextTime_thenItIsKept(Fixture fixture) throws Exception {
        boolean isKept = isKeptThoughRecalledSoon(fixture);
        // Again where the recall was sent twice, and the second one came late enough to be taken for one of the next
        // hold.
        for (int i = 0; i < 2 && !isKept; i++) {
            isKept = isKeptThoughRecalledSoon(fixture);
        }

        assertThat(isKept).isTrue();
    }

    private boolean isKeptThoughRecalledSoon(Fixture fixture) throws Exception {
        InspectableStore store = fixture.store(InspectableStore.class);
        try (LockFactory here = new LockFactory(fixture.store())) {
            Lock lock = sticky(fixture, here);
            for (int use = 0; use < 5; use++) {
                assertThat(usedToken(lock)).isPositive();
            }
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(fixture.lock().tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            awaitNobodyHolds(fixture);
            assertThat(usedTokenAfterARecall(lock)).isPositive();
            return store.holders(fixture.resource()).size() == 1;
        }
    }

    /** What is not kept is released in the store: whoever waits here is woken to ask there. */
    @Test
    default void givenRecalledSoonAndInUse_whenALockWaitsHere_thenItIsGrantedByTheRelease(Fixture fixture)
            throws Exception {
        LockFactory here = fixture.closing(new LockFactory(fixture.store()));
        Lock first = sticky(fixture, here);
        assertThat(first.tryAcquire()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
        assertThat(first.release()).isTrue();
        assertThat(first.tryAcquire(TimeLimits.LIMIT)).isTrue();
        Lock second = sticky(fixture, here);
        BackgroundCall<Boolean> wait = fixture.startWaiting(() -> second.tryAcquire(TimeLimits.LIMIT));

        assertThat(first.release()).isTrue();

        assertThat(fixture.woken(wait)).isTrue();
    }

    @Test
    default void givenStickyAndPlainLocks_whenAllCycle_thenTheyExcludeEachOtherAndTokensGrow(Fixture fixture)
            throws Exception {
        List<LockFactory> factories = IntStream.range(0, 3)
                .mapToObj(i -> fixture.closing(new LockFactory(fixture.store())))
                .toList();
        StickyCycles cycles = new StickyCycles(fixture.resource(), Duration.ofSeconds(2));
        List<BackgroundCall<Integer>> calls = IntStream.range(0, 6)
                .mapToObj(i -> fixture.start(() -> cycles.run(factories.get(i % 3), i)))
                .toList();

        for (BackgroundCall<Integer> call : calls) {
            assertThat(call.result()).isPositive();
        }

        assertThat(cycles.violations()).isEmpty();
    }

    @Test
    default void givenAStoreThatRecalls_whenAskedForItsCapability_thenItHasIt(Fixture fixture) {
        assertThat(fixture.locks().supports(Capability.STICKY)).isTrue();
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.SeveralResources.all;
import static dev.latchkey.testkit.SeveralResources.freeOf;
import static dev.latchkey.testkit.SeveralResources.name;
import static dev.latchkey.testkit.SeveralResources.names;
import static dev.latchkey.testkit.SeveralResources.one;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.BatchStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One Lock of several resources holds all of them or none, and is released as a whole: obligatory for a {@link BatchStore}; other
 * stores acquire one resource after the other, and may join as well.
 */
@ContractFor(BatchStore.class)
public interface MultiLockContract extends StoreContract {

    @Test
    default void givenFree_whenAllAreAcquired_thenEachIsHeldAndFreeAfterTheRelease(Fixture fixture) {
        Lock lock = all(fixture, "a", "b", "c");

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(freeOf(fixture, "a", "b", "c")).isEmpty();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.isExpired()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(lock.isAcquired()).isFalse();
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "b", "c");
    }

    @Test
    default void givenOneIsHeldByAnother_whenAllAreTried_thenNoneIsAcquired(Fixture fixture) {
        for (String held : List.of("a", "b", "c")) {
            Lock holder = one(fixture, held);
            assertThat(holder.tryAcquire()).isTrue();

            boolean acquired = all(fixture, "a", "b", "c").tryAcquire();

            assertThat(acquired).isFalse();
            assertThat(freeOf(fixture, "a", "b", "c")).hasSize(2).doesNotContain(held);
            assertThat(holder.release()).isTrue();
        }
    }

    @Test
    default void givenHeld_whenTheFactoryIsClosed_thenAllAreFree(Fixture fixture) {
        LockFactory others = fixture.closing(new LockFactory(fixture.store()));
        Lock lock = others.all(names(fixture, "a", "b")).create();
        assertThat(lock.tryAcquire()).isTrue();

        others.close();

        assertThat(freeOf(fixture, "a", "b")).containsExactly("a", "b");
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Tag("slow")
    default void givenManyResources_whenAcquired_thenAllAreHeld(Fixture fixture) {
        String[] many = IntStream.range(0, 200).mapToObj(i -> "part-" + i).toArray(String[]::new);
        Lock lock = all(fixture, many);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingTokens()).hasSize(many.length);
        assertThat(one(fixture, "part-0").tryAcquire()).isFalse();
        assertThat(one(fixture, "part-199").tryAcquire()).isFalse();
        assertThat(lock.refresh().isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    @Test
    default void givenTwoThatOverlap_whenBothTry_thenOneHolds(Fixture fixture) {
        Lock first = all(fixture, "a", "b");
        Lock second = all(fixture, "c", "b");
        assertThat(first.tryAcquire()).isTrue();

        assertThat(second.tryAcquire()).isFalse();

        assertThat(freeOf(fixture, "c")).containsExactly("c");
        assertThat(first.release()).isTrue();
        assertThat(second.tryAcquire()).isTrue();
    }

    @Test
    default void givenExclusiveHold_whenLooked_thenEachResourceHasItsFencingTokenWhichGrows(Fixture fixture) {
        Lock lock = all(fixture, "a", "b");
        assertThat(lock.fencingTokens()).isEmpty();
        assertThat(lock.tryAcquire()).isTrue();
        var first = lock.fencingTokens();
        assertThat(lock.fencingToken()).isEmpty();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingTokens()).isEqualTo(first);
        assertThat(lock.release()).isTrue();
        assertThat(lock.fencingTokens()).isEmpty();

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(first).containsOnlyKeys(name(fixture, "a"), name(fixture, "b"));
        lock.fencingTokens()
                .forEach((resource, token) -> assertThat(token).as(resource).isGreaterThan(first.get(resource)));
    }

    @Test
    default void givenAResourceNamedTwice_whenAcquired_thenItCountsOnce(Fixture fixture) {
        Lock lock = all(fixture, "b", "a", "b");

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingTokens()).containsOnlyKeys(name(fixture, "a"), name(fixture, "b"));
        assertThat(lock.release()).isTrue();
        assertThat(freeOf(fixture, "a", "b")).containsExactly("a", "b");
    }

    @Test
    default void givenOneResource_whenAcquired_thenItIsALockOfThatResource(Fixture fixture) {
        Lock lock = all(fixture, "a");

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.fencingToken()).isPresent();
        assertThat(lock.fencingTokens())
                .containsEntry(name(fixture, "a"), lock.fencingToken().getAsLong())
                .hasSize(1);
        assertThat(lock.key().resource()).isEqualTo(name(fixture, "a"));
        assertThat(freeOf(fixture, "a")).isEmpty();
    }

    @Test
    default void givenNoResource_whenAsked_thenRefused(Fixture fixture) {
        assertThatThrownBy(() -> fixture.locks().all(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least one");
        assertThatThrownBy(() -> fixture.locks().all(List.of("a", "x".repeat(20_000))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too long");
    }

    /** Names are only names: what covers what is said by a tree. */
    @Test
    default void givenNamesOfAHierarchy_whenAcquired_thenNoneCoversAnother(Fixture fixture) {
        Lock lock = all(fixture, "a", "a/b");

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(freeOf(fixture, "a", "a/b", "a/c", "a/b/c")).containsExactly("a/c", "a/b/c");
    }

    @Test
    default void givenSeveral_whenAskedForAKey_thenThereIsNone(Fixture fixture) {
        Lock lock = all(fixture, "a", "b");
        assertThat(lock.tryAcquire()).isTrue();

        assertThatThrownBy(lock::key).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(lock::transferKey).isInstanceOf(UnsupportedOperationException.class);
        assertThat(lock.isAcquired()).isTrue();
    }

    @Test
    default void givenSeveral_whenAcquiredShared_thenHeldExclusively(Fixture fixture) {
        assertThat(all(fixture, "a", "b").tryAcquireShared()).isTrue();

        assertThat(one(fixture, "a").tryAcquireShared()).isFalse();
    }

    @Test
    default void givenOneIsHeld_whenWaitedFor_thenNothingIsHeldMeanwhileAndAllWhenItIsFree(Fixture fixture)
            throws Exception {
        for (String last : List.of("a", "b", "c")) {
            Lock holder = one(fixture, last);
            assertThat(holder.tryAcquire()).isTrue();
            Lock waiter = all(fixture, "a", "b", "c");
            BackgroundCall<Lock> waiting = fixture.startWaiting(() -> waiter.acquire(LONG_WAIT));
            // It may try in vain at that moment.
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> freeOf(fixture, "a", "b", "c").size() == 2);

            assertThat(holder.release()).isTrue();

            assertThat(waiting.result().isAcquired()).isTrue();
            assertThat(freeOf(fixture, "a", "b", "c")).isEmpty();
            assertThat(waiter.release()).isTrue();
        }
    }

    @Test
    default void givenSeveralAreHeldByDifferentHolders_whenWaitedFor_thenAcquiredAfterTheLast(Fixture fixture)
            throws Exception {
        Lock a = one(fixture, "a");
        Lock c = one(fixture, "c");
        assertThat(a.tryAcquire() && c.tryAcquire()).isTrue();
        Lock waiter = all(fixture, "a", "b", "c");
        BackgroundCall<Lock> waiting = fixture.startWaiting(() -> waiter.acquire(LONG_WAIT));

        assertThat(c.release()).isTrue();
        assertThat(a.release()).isTrue();

        assertThat(waiting.result().fencingTokens()).hasSize(3);
    }

    @Test
    default void givenOneIsHeld_whenTheMaxWaitIsOver_thenNothingIsHeld(Fixture fixture) throws Exception {
        assertThat(one(fixture, "b").tryAcquire()).isTrue();

        boolean acquired = all(fixture, "a", "b", "c").tryAcquire(SHORT_WAIT);

        assertThat(acquired).isFalse();
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "c");
    }

    @Test
    default void givenWaiting_whenInterrupted_thenNothingIsHeld(Fixture fixture) throws Exception {
        Lock holder = one(fixture, "b");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = all(fixture, "a", "b", "c");
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "c");
        assertThat(holder.release()).isTrue();
        assertThat(freeOf(fixture, "a", "b", "c")).containsExactly("a", "b", "c");
    }

    @Test
    default void givenWaiting_whenReleasedByAnotherThread_thenItEndsAndNothingIsHeld(Fixture fixture) throws Exception {
        assertThat(one(fixture, "b").tryAcquire()).isTrue();
        Lock waiter = all(fixture, "a", "b");
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        assertThat(waiter.release()).isFalse();

        assertThatThrownBy(waiting::result).isInstanceOf(LockConflictedException.class);
        assertThat(freeOf(fixture, "a", "b")).containsExactly("a");
    }

    /**
     * Returns how often each thread acquires a random set of resources that overlap with those of the others.
     *
     * @return 50 unless a slow store says less
     */
    default int multiLockHoldsPerThread() {
        return 50;
    }

    @Test
    @Tag("slow")
    default void givenThreads_whenEachAcquiresRandomSetsThatOverlap_thenNobodyIsInThereBesides(Fixture fixture)
            throws Exception {
        List<String> resources = names(fixture, "a", "b", "c", "d", "e");
        Set<String> occupied = Collections.synchronizedSet(new HashSet<>());
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Random random = new Random(i);
            calls.add(fixture.start(() -> {
                for (int hold = 0; hold < multiLockHoldsPerThread(); hold++) {
                    List<String> some = randomly(resources, random);
                    try (Lock lock = fixture.locks().all(some).create().acquire()) {
                        for (String resource : some) {
                            assertThat(occupied.add(resource)).as(resource).isTrue();
                        }
                        LockSupport.parkNanos(1);
                        occupied.removeAll(some);
                        assertThat(lock.isExpired()).isFalse();
                    }
                }
                return true;
            }));
        }

        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }

        assertThat(fixture.locks().all(resources).create().tryAcquire()).isTrue();
    }

    /** One to four of the resources, in any order. */
    private static List<String> randomly(List<String> resources, Random random) {
        List<String> shuffled = new ArrayList<>(resources);
        Collections.shuffle(shuffled, random);
        return shuffled.subList(0, 1 + random.nextInt(4));
    }
}

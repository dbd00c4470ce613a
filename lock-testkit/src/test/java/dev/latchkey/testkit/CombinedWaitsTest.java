package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Waiting over a combined store, and closing it while members hang. */
class CombinedWaitsTest {

    private static final Duration TTL = Duration.ofMinutes(5);
    private static final String MARK = "latchkey:promotes:x";

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();

    /** B11: the two waited for each other for ever, as long as their leases were renewed. */
    @Test
    void givenTwoReadersWaitToPromote_whenTheSecondAsks_thenItIsRefusedAndTheFirstIsNext() throws Exception {
        try (CombinedStore one = combined();
                CombinedStore other = combined();
                LockFactory here = new LockFactory(one);
                LockFactory there = new LockFactory(other)) {
            Lock first = here.createLock("x", TTL);
            Lock second = there.createLock("x", TTL);
            assertThat(first.tryAcquireShared()).isTrue();
            assertThat(second.tryAcquireShared()).isTrue();
            BackgroundCall<Lock> promotion = BackgroundCall.start(first::acquire);
            await().until(this::isMarked);

            assertThatExceptionOfType(LockConflictedException.class)
                    .isThrownBy(() -> second.acquire(Duration.ofMinutes(1)))
                    .withMessageContaining("waits for promotion");

            assertThat(second.isAcquired()).isTrue();
            assertThat(second.release()).isTrue();
            assertThat(promotion.result().key().held().orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
            await().until(() -> !isMarked());
        }
    }

    @Test
    void givenAPromoterGaveUp_whenAnotherWaits_thenItIsNotRefused() throws Exception {
        try (CombinedStore one = combined();
                CombinedStore other = combined();
                LockFactory here = new LockFactory(one);
                LockFactory there = new LockFactory(other)) {
            Lock first = here.createLock("x", TTL);
            Lock second = there.createLock("x", TTL);
            assertThat(first.tryAcquireShared()).isTrue();
            assertThat(second.tryAcquireShared()).isTrue();
            assertThat(first.tryAcquire(Duration.ofMillis(50))).isFalse();
            await().until(() ->
                    memories.stream().allMatch(memory -> memory.holders(MARK).isEmpty()));

            BackgroundCall<Lock> promotion = BackgroundCall.start(second::acquire);
            await().until(this::isMarked);

            assertThat(first.release()).isTrue();
            assertThat(promotion.result().isAcquired()).isTrue();
        }
    }

    /** A mark that a slow member still had could refuse the next who waited to promote. */
    @Test
    void givenAPromoterGivesUp_whenAMemberIsSlow_thenItsMarkIsAwaited() throws Exception {
        List<FaultyStore> members = memories.stream().map(FaultyStore::new).toList();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy())) {
            Key key = Key.of("x");
            Request promotion = Requests.exclusive(Requests.holding(key, store.save(Requests.shared(key))));
            for (InMemoryStore memory : memories) {
                Requests.granted(memory.save(Requests.shared(Key.of("x"))));
            }
            assertThat(store.save(promotion.with(RetryIntent.AGAIN))).isInstanceOf(Response.Conflicted.class);
            await().until(() ->
                    memories.stream().noneMatch(memory -> memory.holders(MARK).isEmpty()));
            Pause pause = new Pause();
            members.get(0).next(FaultyStore.Operation.DELETE, Fault.pausedBefore(pause));
            long begun = System.nanoTime();
            BackgroundCall<Response> last = BackgroundCall.start(() -> store.save(promotion));
            pause.awaitReached();

            pause.end();

            assertThat(last.result()).isInstanceOf(Response.Conflicted.class);
            boolean isInTime =
                    System.nanoTime() - begun < Duration.ofMillis(250).toNanos();
            assertThat(memories.get(0).holders(MARK).isEmpty() || !isInTime).isTrue();
        }
    }

    /** Nobody waits any more, and the next was refused for as long as the mark lasted. */
    @Test
    void givenAPromoterWaits_whenTheMembersFail_thenItsMarkEnds() {
        List<FaultyStore> members = memories.stream().map(FaultyStore::new).toList();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy())) {
            Key key = Key.of("x");
            Request promotion = Requests.exclusive(Requests.holding(key, store.save(Requests.shared(key))));
            for (InMemoryStore memory : memories) {
                Requests.granted(memory.save(Requests.shared(Key.of("x"))));
            }
            assertThat(store.save(promotion.with(RetryIntent.AGAIN))).isInstanceOf(Response.Conflicted.class);
            await().until(this::isMarked);
            members.forEach(member -> member.always(FaultyStore.Operation.SAVE, Fault.unreachable()));

            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> store.save(promotion.with(RetryIntent.AGAIN)));

            await().until(() ->
                    memories.stream().allMatch(memory -> memory.holders(MARK).isEmpty()));
        }
    }

    private boolean isMarked() {
        return memories.stream()
                        .filter(memory -> !memory.holders(MARK).isEmpty())
                        .count()
                >= 2;
    }

    /** B22: each of its calls kept a thread, also after close. */
    @Test
    @Tag("slow")
    void givenAMemberHangs_whenClosed_thenItsThreadsEnd() {
        Hanging hanging = new Hanging();
        // Long enough for the others to answer on a busy machine; the threads end as much later.
        CombinedStore store = new CombinedStore(
                List.of(memories.get(0), memories.get(1), hanging), new ConsensusStrategy(), Duration.ofSeconds(10));
        for (int i = 0; i < 20; i++) {
            Requests.granted(store.save(Requests.exclusive(Key.of("x" + i))));
        }
        await().until(() -> !hanging.asked.isEmpty());

        store.close();

        await().atMost(TimeLimits.LIMIT).until(() -> hanging.asked.stream().noneMatch(Thread::isAlive));
    }

    /** B22: what it was asked was kept without a bound. */
    @Test
    @Tag("slow")
    void givenAMemberHangs_whenAskedAgainAndAgain_thenItsQueueHasABound() {
        Hanging hanging = new Hanging();
        try (CombinedStore store = new CombinedStore(
                List.of(memories.get(0), memories.get(1), hanging), new ConsensusStrategy(), Duration.ofMinutes(1))) {
            for (int i = 0; i < 5_000; i++) {
                Requests.granted(store.save(Requests.exclusive(Key.of("x" + i))));
            }

            memories.get(0).close();
            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> store.save(Requests.exclusive(Key.of("y"))))
                    .withMessageContaining("2 failed");
        }
    }

    /**
     * All that the other members grant while one hangs was saved and released there when it was back, one after the other, and a
     * new owner came after that: it had no answer in time, and could not do without another member.
     */
    @Test
    void givenAMemberHangs_whenNewKeysAreGrantedAndReleased_thenItIsNotAskedToSaveThem() throws Exception {
        List<FaultyStore.Operation> operations = operationsAfterAPause(() -> Key.of("x"));

        assertThat(operations).filteredOn(FaultyStore.Operation.SAVE::equals).hasSize(2);
        assertThat(operations).filteredOn(FaultyStore.Operation.DELETE::equals).hasSize(101);
    }

    /** As a Lock that is used again and again. */
    @Test
    void givenAMemberHangs_whenOneKeyIsGrantedAndReleasedAgainAndAgain_thenItIsAskedOnce() throws Exception {
        Key key = Key.of("x");

        assertThat(operationsAfterAPause(() -> key))
                .containsExactly(
                        FaultyStore.Operation.SAVE,
                        FaultyStore.Operation.DELETE,
                        FaultyStore.Operation.SAVE,
                        FaultyStore.Operation.DELETE);
    }

    /** What the first member was asked: it hangs during a hundred grants by the others, and the last grant needs it. */
    private List<FaultyStore.Operation> operationsAfterAPause(Supplier<Key> keys) throws Exception {
        List<FaultyStore> members = memories.stream().map(FaultyStore::new).toList();
        Pause pause = new Pause();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TimeLimits.LIMIT)) {
            members.get(0).next(FaultyStore.Operation.SAVE, Fault.pausedBefore(pause));
            for (int i = 0; i < 100; i++) {
                takeAndRelease(store, keys.get());
            }
            pause.awaitReached();
            pause.end();

            members.get(1).always(FaultyStore.Operation.SAVE, Fault.unreachable());
            takeAndRelease(store, keys.get());

            return members.get(0).operations();
        }
    }

    private static void takeAndRelease(CombinedStore store, Key key) {
        assertThat(store.delete(Requests.holding(key, store.save(Requests.exclusive(key)))))
                .isTrue();
    }

    /** What the first Lock over a key has at a member is released, although the save of the second was not sent yet. */
    @Test
    void givenASecondLockOfAKeyWaitsToBeSent_whenReleased_thenAllIsGivenUp() throws Exception {
        List<FaultyStore> members = memories.stream().map(FaultyStore::new).toList();
        Pause pause = new Pause();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TimeLimits.LIMIT)) {
            Key key = Key.of("x");
            Key held = Requests.holding(key, store.save(Requests.exclusive(key)));
            await().until(() ->
                    memories.stream().noneMatch(memory -> memory.holders("x").isEmpty()));
            members.get(0).next(FaultyStore.Operation.SAVE, Fault.pausedBefore(pause));
            assertThat(store.save(Requests.exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
            pause.awaitReached();
            Requests.granted(store.save(Requests.exclusive(key)));

            BackgroundCall<Boolean> release = BackgroundCall.start(() -> store.delete(held));
            assertThat(release.result()).isTrue();
            pause.end();

            await().until(() ->
                    memories.stream().allMatch(memory -> memory.holders("x").isEmpty()));
        }
    }

    /** As an editor of a large tree renews: more than may be under way at once failed each time, until all was lost. */
    @Test
    @Tag("slow")
    void givenMoreAreHeldThanMayBeUnderWay_whenRefreshedTogether_thenAllAre() {
        List<FaultyStore> members = memories.stream().map(FaultyStore::new).toList();
        try (CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TimeLimits.LIMIT)) {
            List<Request> held = Stream.generate(() -> Key.of("x" + UUID.randomUUID()))
                    .limit(5_000)
                    .map(key -> Requests.exclusive(Requests.holding(key, store.save(Requests.exclusive(key)))))
                    .toList();
            // As over a network: they are asked faster than they answer.
            members.forEach(member -> member.always(FaultyStore.Operation.REFRESH, Fault.meanwhile(() -> {
                LockSupport.parkNanos(1_000_000);
                return member;
            })));

            assertThat(store.refreshAll(held))
                    .allSatisfy(outcome -> assertThat(outcome)
                            .isInstanceOfSatisfying(
                                    RefreshResult.Answered.class, answered -> Requests.granted(answered.response())));
        }
    }

    private CombinedStore combined() {
        return new CombinedStore(memories, new ConsensusStrategy());
    }

    /** Answers nothing until it is interrupted. */
    private static final class Hanging implements PersistingStore {

        private final Set<Thread> asked = ConcurrentHashMap.newKeySet();

        @Override
        public Response save(Request request) {
            throw hang(request.key());
        }

        @Override
        public boolean delete(Key key) {
            throw hang(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            throw hang(key);
        }

        private LockStorageException hang(Key key) {
            asked.add(Thread.currentThread());
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return new LockStorageException(key.resource(), "interrupted", null);
        }
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.RAISE_FENCE;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.combined.Strategy;
import dev.latchkey.combined.UnanimousStrategy;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members that fail, hang, forget, answer late, or were held by a rival in part. */
class CombinedFaultsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TIMEOUT);
    private final Key key = Key.of("x");
    private final Key rival = Key.of("x");

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
    }

    @Test
    void givenOneMemberFails_whenUsed_thenAllGoesOn() {
        members.get(1).always(SAVE, Fault.unreachable()).always(DELETE, Fault.unreachable());
        members.get(1).always(REFRESH, Fault.unreachable()).always(FIND, Fault.unreachable());

        Response.Granted saved = granted(store.save(exclusive(key)));

        assertThat(store.save(exclusive(rival))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.find(key)).isPresent();
        assertThat(granted(store.refresh(exclusive(holding(key, saved)))).fencingToken())
                .isEqualTo(saved.fencingToken());
        assertThat(store.delete(key)).isTrue();
        assertThat(granted(store.save(exclusive(rival))).fencingToken().orElseThrow())
                .isGreaterThan(saved.fencingToken().orElseThrow());
    }

    /** As if nothing had been done: another member has demoted, and the third has ended its lease sooner. */
    @Test
    void givenOneRefusesTheTtl_whenItMayBeDemotedOrEndSoonerAtOthers_thenThatIsInDoubt() {
        Key held = holding(key, granted(store.save(exclusive(key))));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        Fault refused = Fault.meanwhile(() -> {
            throw new IllegalArgumentException("TTL");
        });
        members.get(0).next(SAVE, refused).next(REFRESH, refused);
        members.get(1).next(SAVE, Fault.unreachable()).next(REFRESH, Fault.unreachable());

        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.refresh(exclusive(held).with(LeaseChange.SET)))
                .extracting(LockStorageException::failure)
                .isEqualTo(LockStorageException.Failure.IN_DOUBT);
        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.save(shared(held)))
                .extracting(LockStorageException::failure)
                .isEqualTo(LockStorageException.Failure.IN_DOUBT);
    }

    /** F13: that nobody could be asked looked like a conflict, and a waiter asked for ever. */
    @Test
    void givenTwoMembersFail_whenAsked_thenAFailureAndNeverAConflict() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        for (FaultyStore.Operation operation : List.of(SAVE, REFRESH, FIND)) {
            members.get(0).always(operation, Fault.unreachable());
            members.get(2).always(operation, Fault.unreachable());
        }

        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.save(exclusive(rival)))
                .withMessageContaining("2 failed");
        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.refresh(exclusive(holding(key, saved))));
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.find(key));

        members.forEach(FaultyStore::heal);
        assertThat(store.find(key)).isPresent();
        assertThat(store.refresh(exclusive(holding(key, saved)))).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenOneMemberHangs_whenAsked_thenTheOthersDecide() throws Exception {
        Pause pause = new Pause();
        members.get(0).next(SAVE, Fault.pausedBefore(pause));

        BackgroundCall<Response> save = BackgroundCall.start(() -> store.save(exclusive(key)));

        assertThat(save.result()).isInstanceOf(Response.Granted.class);
        pause.end();
        await().until(() -> memories.get(0).find(key).isPresent());
    }

    /** Its grant comes after the release, and must not stay. */
    @Test
    void givenAGrantComesAfterTheRelease_whenItHasCome_thenItIsGivenBack() throws Exception {
        Pause pause = new Pause();
        members.get(0).next(SAVE, Fault.pausedBefore(pause));
        granted(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();

        pause.end();

        await().until(() -> members.get(0).operations().contains(DELETE));
        await().until(() -> memories.get(0).find(key).isEmpty());
    }

    @Test
    void givenARelease_whenClosedBeforeAMemberHasGranted_thenItIsGivenBackAllTheSame() throws Exception {
        Pause pause = new Pause();
        members.get(0).next(SAVE, Fault.pausedBefore(pause));
        granted(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();
        pause.awaitReached();
        store.close();

        pause.end();

        await().until(() -> members.get(0).operations().contains(DELETE));
        await().until(() -> memories.get(0).find(key).isEmpty());
    }

    /** The next who takes it here must not be refused by what is still to be given back here. */
    @Test
    void givenAMemberIsSlowToRelease_whenTakenAgain_thenItGrantsAfterThat() throws Exception {
        Response.Granted saved = granted(store.save(exclusive(key)));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        Pause pause = new Pause();
        members.get(0).next(DELETE, Fault.pausedBefore(pause));
        assertThat(store.delete(holding(key, saved))).isTrue();

        granted(store.save(exclusive(rival)));

        pause.end();
        await().until(() -> memories.get(0).find(rival).isPresent());
        assertThat(store.delete(rival)).isTrue();
    }

    @Test
    @Tag("slow")
    void givenMembersHang_whenTheTimeIsOver_thenAFailureAndLateGrantsAreGivenBack() throws Exception {
        Pause pause = new Pause();
        members.get(0).next(SAVE, Fault.pausedAfter(pause));
        Pause other = new Pause();
        members.get(1).next(SAVE, Fault.pausedAfter(other));
        try (CombinedStore impatient = new CombinedStore(members, new ConsensusStrategy(), Duration.ofSeconds(2))) {
            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> impatient.save(exclusive(key)))
                    .withMessageContaining("2 did not answer");

            pause.end();
            other.end();
            await().until(() ->
                    memories.stream().allMatch(memory -> memory.find(key).isEmpty()));
        }
    }

    /** F7: it had dropped what was held before. */
    @Test
    void givenTwoReaders_whenOnePromotes_thenRefusedAndNothingIsDropped() {
        Response reader = store.save(shared(key));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        granted(memories.get(0).save(shared(rival)));
        granted(memories.get(1).save(shared(rival)));

        assertThat(store.save(exclusive(holding(key, reader)))).isInstanceOf(Response.Conflicted.class);

        for (InMemoryStore memory : memories) {
            await().until(() -> memory.find(key).orElseThrow().mode() == LockMode.SHARED);
        }
        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        memories.get(0).delete(rival);
        assertThat(granted(store.save(exclusive(holding(key, reader)))).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** A member that was raised without an answer stayed exclusive, for the demotion claimed the token before. */
    @Test
    void givenARaiseIsNotAnswered_whenThePromotionIsRefused_thenAllIsSharedAgain() {
        Key first = Key.of("x");
        FencingStore ahead = memories.get(0);
        granted(ahead.save(exclusive(first), 100));
        assertThat(ahead.delete(first)).isTrue();
        Response reader = store.save(shared(key));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        members.get(2).always(SAVE, Fault.unreachable());
        members.get(1).next(RAISE_FENCE, Fault.replyLost());

        assertThat(store.save(exclusive(holding(key, reader)))).isInstanceOf(Response.Conflicted.class);

        for (InMemoryStore memory : memories) {
            await().until(() -> memory.find(key).orElseThrow().mode() == LockMode.SHARED);
        }
    }

    /** As with trees, a demotion without a token could undo what was promoted after it. */
    @Test
    void givenAPromotionIsNotAnswered_whenItIsUndoneLate_thenWhatIsPromotedAfterThatStays() {
        List<LateDemotions> late = memories.stream().map(LateDemotions::new).toList();
        try (CombinedStore here = new CombinedStore(late, new ConsensusStrategy(), TIMEOUT);
                CombinedStore there = new CombinedStore(memories, new ConsensusStrategy(), TIMEOUT)) {
            Key reader = holding(key, here.save(shared(key)));
            await().until(() ->
                    memories.stream().allMatch(memory -> memory.find(key).isPresent()));
            granted(memories.get(0).save(shared(rival)));
            late.get(1).promotes = false;
            late.get(2).promotes = false;
            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> here.save(exclusive(reader)));
            assertThat(memories.get(0).delete(rival)).isTrue();
            late.get(1).promotes = true;
            assertThat(granted(here.save(exclusive(reader))).mode()).isEqualTo(LockMode.EXCLUSIVE);

            late.forEach(LateDemotions::arrive);

            assertThat(there.save(shared(rival))).isInstanceOf(Response.Conflicted.class);
        }
    }

    @Test
    void givenARivalHasAMinority_whenConflicted_thenWhatWasTakenIsGivenBack() {
        granted(memories.get(0).save(exclusive(rival)));
        granted(memories.get(1).save(exclusive(rival)));

        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Conflicted.class);

        await().until(() -> memories.get(2).find(key).isEmpty());
    }

    @Test
    void givenAMemberForgot_whenRefreshed_thenItIsTakenBackIn() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        assertThat(memories.get(1).delete(key)).isTrue();

        granted(store.refresh(exclusive(holding(key, saved))));

        await().until(() -> memories.get(1).find(key).isPresent());
        assertThat(memories.get(0).delete(key)).isTrue();
        assertThat(store.refresh(exclusive(holding(key, saved)))).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenTwoMembersForgot_whenRefreshed_thenLost() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        memories.get(0).delete(key);
        memories.get(1).delete(key);

        assertThat(store.refresh(exclusive(holding(key, saved)))).isInstanceOf(Response.Lost.class);

        await().until(() -> memories.get(2).find(key).isEmpty());
    }

    /** Where no member has leases, to find is to refresh. */
    @Test
    void givenTwoMembersWithoutLeasesForgot_whenLookedFor_thenTheRestIsGivenBack() {
        List<Sessions> three = memories.stream()
                .map(memory -> new Sessions(memory, new CompletableFuture<>()))
                .toList();
        try (CombinedStore sessions = new CombinedStore(three, new ConsensusStrategy(), TIMEOUT)) {
            granted(sessions.save(exclusive(key)));
            memories.get(0).delete(key);
            memories.get(1).delete(key);

            assertThat(sessions.find(key)).isEmpty();

            await().until(() -> memories.get(2).find(key).isEmpty());
        }
    }

    /** The refresh may be an automatic one, and come to a member behind the demotion. */
    @Test
    void givenARefreshMeetsADemotion_whenItFindsNothingAsClaimed_thenTheSharedHoldStays() throws Exception {
        Response.Granted saved = granted(store.save(exclusive(key)));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        Pause pause = new Pause();
        members.forEach(member -> member.next(SAVE, Fault.pausedAfter(pause)));
        BackgroundCall<Response> demotion = BackgroundCall.start(() -> store.save(shared(holding(key, saved))));
        // At a member that has not been asked yet the refresh would be the first.
        await().until(() -> members.stream().allMatch(member -> saves(member) >= 2));
        BackgroundCall<Response> refresh = BackgroundCall.start(() -> store.refresh(exclusive(holding(key, saved))));
        refresh.awaitWaiting();

        pause.end();

        assertThat(refresh.result()).isInstanceOf(Response.Lost.class);
        assertThat(demotion.result()).isInstanceOf(Response.Granted.class);
        assertThat(granted(store.refresh(shared(holding(key, demotion.result()))))
                        .mode())
                .isEqualTo(LockMode.SHARED);
    }

    private static long saves(FaultyStore member) {
        return member.operations().stream().filter(SAVE::equals).count();
    }

    @Test
    void givenSessions_whenTooFewAreLeft_thenTheHoldIsLostOnce() {
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        try (LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.lock("y").onLost(losses::add).create();
            assertThat(lock.tryAcquire()).isTrue();
            Key held = lock.key();
            await().until(() ->
                    memories.stream().allMatch(memory -> memory.find(held).isPresent()));
            lock.refresh();

            await().until(() -> members.get(0).lose(held, LossReason.SESSION_LOST));
            assertThat(lock.isExpired()).isFalse();
            await().until(() -> members.get(2).lose(held, LossReason.SESSION_LOST));

            await().until(() -> !losses.isEmpty());
            assertThat(lock.isExpired()).isTrue();
            assertThat(losses).containsExactly(LossReason.SESSION_LOST);

            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.isExpired()).isFalse();
            assertThat(losses).hasSize(1);
        }
    }

    /** A member without leases would keep it for ever. */
    @Test
    void givenSessions_whenTooFewAreLeft_thenTheRestIsGivenBack() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        granted(store.refresh(exclusive(holding(key, saved))));

        await().until(() -> members.get(0).lose(key, LossReason.SESSION_LOST));
        await().until(() -> members.get(2).lose(key, LossReason.SESSION_LOST));

        await().until(() -> memories.get(1).find(key).isEmpty());
    }

    /** Whichever of them is looked at first. */
    @Test
    void givenASessionIsOverBeforeTheAnswer_whenTheOthersAreEnough_thenHeld() {
        CompletionStage<LossReason> over = CompletableFuture.completedFuture(LossReason.SESSION_LOST);
        List<Sessions> three = List.of(
                new Sessions(memories.get(0), over),
                new Sessions(memories.get(1), new CompletableFuture<>()),
                new Sessions(memories.get(2), new CompletableFuture<>()));
        try (CombinedStore sessions = new CombinedStore(three, new ConsensusStrategy(), TIMEOUT)) {
            Response.Granted saved = granted(sessions.save(exclusive(key)));

            assertThat(saved.lease().lost().orElseThrow().toCompletableFuture()).isNotDone();
        }
    }

    @Test
    void givenKeyFromAnotherProcess_whenUsedThere_thenTheSameOwner() {
        CombinedStore other = new CombinedStore(members, new ConsensusStrategy(), TIMEOUT);
        Response.Granted saved = granted(store.save(exclusive(key)));
        Key travelled = holding(key, saved);

        assertThat(other.find(travelled).orElseThrow().fencingToken()).isEqualTo(saved.fencingToken());
        assertThat(granted(other.refresh(exclusive(travelled))).fencingToken()).isEqualTo(saved.fencingToken());
        assertThat(granted(other.save(exclusive(travelled))).fencingToken()).isEqualTo(saved.fencingToken());
        assertThat(other.delete(travelled)).isTrue();
        assertThat(store.find(key)).isEmpty();
        other.close();
    }

    @Test
    @Tag("slow")
    void givenMembersCountApart_whenTheyAgree_thenTokensGrowWhoeverIsAway() {
        for (int i = 0; i < 5; i++) {
            Key ahead = Key.of("x");
            granted(memories.get(0).save(exclusive(ahead)));
            assertThat(memories.get(0).delete(ahead)).isTrue();
        }
        long last = 0;
        for (int i = 0; i < 30; i++) {
            members.get(i % 3).next(SAVE, Fault.unreachable());
            Key next = Key.of("x");

            long token = granted(store.save(exclusive(next))).fencingToken().orElseThrow();

            assertThat(token).isGreaterThan(last);
            last = token;
            assertThat(store.delete(next)).isTrue();
            members.forEach(FaultyStore::heal);
            await().until(() ->
                    memories.stream().allMatch(memory -> memory.find(next).isEmpty()));
        }
    }

    @Test
    void givenMembersApart_whenTheyGrant_thenThoseBehindAreRaisedAndTheNextTakesOneRoundTrip() {
        Key first = Key.of("x");
        FencingStore ahead = memories.get(0);
        granted(ahead.save(exclusive(first), 100));
        assertThat(ahead.delete(first)).isTrue();
        members.get(2).next(SAVE, Fault.unreachable());
        granted(store.save(exclusive(first)));
        assertThat(members.get(1).operations()).contains(RAISE_FENCE);
        assertThat(store.delete(first)).isTrue();
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(first).isEmpty()));
        members.forEach(FaultyStore::forgetCalls);

        long token = granted(store.save(exclusive(key))).fencingToken().orElseThrow();

        assertThat(token).isGreaterThan(100);
        assertThat(members).allSatisfy(member -> assertThat(member.operations()).doesNotContain(RAISE_FENCE));
    }

    /** F14: rivals that split the votes kept each other out for ever. */
    @Test
    void givenEightRivalsOnFiveMembers_whenAllWantIt_thenOneAfterTheOtherHasIt() throws Exception {
        List<InMemoryStore> five = Stream.generate(InMemoryStore::new).limit(5).toList();
        AtomicInteger holders = new AtomicInteger();
        List<Long> tokens = new CopyOnWriteArrayList<>();
        List<BackgroundCall<Integer>> rivals = new ArrayList<>();
        List<CombinedStore> stores = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            CombinedStore own = new CombinedStore(five, new ConsensusStrategy());
            stores.add(own);
            rivals.add(BackgroundCall.start(() -> takeInTurn(own, holders, tokens)));
        }

        for (BackgroundCall<Integer> one : rivals) {
            assertThat(one.result()).isEqualTo(5);
        }
        assertThat(tokens).hasSize(40).isSorted().doesNotHaveDuplicates();
        stores.forEach(CombinedStore::close);
    }

    private static int takeInTurn(CombinedStore own, AtomicInteger holders, List<Long> tokens) throws Exception {
        int turns = 0;
        try (LockFactory locks = new LockFactory(own)) {
            while (turns < 5) {
                try (Lock lock = locks.createLock("x").acquire()) {
                    assertThat(holders.incrementAndGet()).isEqualTo(1);
                    tokens.add(lock.fencingToken().orElseThrow());
                    holders.decrementAndGet();
                    turns++;
                }
            }
        }
        return turns;
    }

    @Test
    void givenMixedMembers_whenCombined_thenItCanDoWhatTheyCan() {
        PersistingStore plain = new NullStore();
        try (CombinedStore mixed =
                new CombinedStore(List.of(memories.get(0), memories.get(1), plain), new ConsensusStrategy())) {
            assertThat(mixed.capability(ExpiringStore.class)).isPresent();
            assertThat(mixed.capability(SharedStore.class)).isPresent();
            assertThat(mixed.capability(ProcessBound.class)).isPresent();
            assertThat(mixed.capability(FencingStore.class)).isEmpty();
            Response.Granted saved = granted(mixed.save(exclusive(key)));

            assertThat(mixed.refresh(exclusive(holding(key, saved)))).isInstanceOf(Response.Granted.class);
            assertThat(mixed.delete(key)).isTrue();
        }
        try (CombinedStore travelling =
                new CombinedStore(List.of(new NullStore(), new NullStore()), new UnanimousStrategy())) {
            assertThat(travelling.capability(ExpiringStore.class)).isEmpty();
            assertThat(travelling.capability(ProcessBound.class)).isEmpty();
            assertThat(granted(travelling.save(exclusive(key))).fencingToken()).isEmpty();
        }
    }

    @Test
    void givenUnsafeConfiguration_whenCombined_thenRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CombinedStore(List.of(), new UnanimousStrategy()))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CombinedStore(
                        List.of(memories.get(0), memories.get(0), memories.get(1)), new ConsensusStrategy()))
                .withMessageContaining("twice");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CombinedStore(memories, new AnyOf()))
                .withMessageContaining("two keys could hold at once");
    }

    /** Grants for as long as a session lasts, and answers before it is waited for. */
    private record Sessions(InMemoryStore store, CompletionStage<LossReason> lost) implements AsyncStore {

        @Override
        public Response save(Request request) {
            Response.Granted granted = granted(store.save(request));
            return new Response.Granted(granted.mode(), OptionalLong.empty(), Lease.session(lost));
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public CompletionStage<Response> saveAsync(Request request, long proposal) {
            return CompletableFuture.completedFuture(save(request));
        }

        @Override
        public CompletionStage<Boolean> deleteAsync(Key key) {
            return CompletableFuture.completedFuture(delete(key));
        }
    }

    /** Answers no demotion, and does what it asks later. */
    private static final class LateDemotions implements SharedStore, FencingStore {

        private final InMemoryStore store;
        private final List<Request> underWay = new CopyOnWriteArrayList<>();
        private volatile boolean promotes = true;

        LateDemotions(InMemoryStore store) {
            this.store = store;
        }

        void arrive() {
            underWay.forEach(store::save);
        }

        @Override
        public Response save(Request request) {
            boolean holds = request.key().held().isPresent();
            if (holds && request.mode() == LockMode.SHARED) {
                underWay.add(request);
                throw new LockStorageException("x", "no answer", null);
            }
            if (holds && !promotes) {
                throw new LockStorageException("x", "no answer", null);
            }
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public boolean raiseFence(Key key, long fence) {
            return store.raiseFence(key, fence);
        }

        @Override
        public Durability survives() {
            return store.survives();
        }
    }

    /** One is enough: two rivals need not meet. */
    private static final class AnyOf implements Strategy {

        @Override
        public boolean isMet(int successes, int total) {
            return successes > 0;
        }

        @Override
        public boolean canBeMet(int failures, int total) {
            return failures < total;
        }
    }
}

package dev.latchkey.testkit;

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
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two requests of one key at a time: of two Locks over it, or of a thread that has not come to its end yet. */
class CombinedTwoThreadsTest {

    private static final Fault NOT_SENT = Fault.failing(LockStorageException.Failure.NOT_SENT);

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final List<FaultyStore> others =
            memories.stream().map(FaultyStore::new).toList();
    private final Stalling first = new Stalling(members.get(0));
    private final CombinedStore stalling =
            new CombinedStore(List.of(first, members.get(1), members.get(2)), new ConsensusStrategy());
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy());
    private final Key key = Key.of("x");

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
        stalling.close();
    }

    /** The third had lost what was shared, has what was promoted since, and is counted on. */
    @Test
    void givenPromotedMeanwhile_whenAnEarlierRefreshBringsAMemberBack_thenItIsNotDemoted() throws Exception {
        Key reads = holding(key, granted(stalling.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        assertThat(memories.get(2).delete(key)).isTrue();
        Pause granting = new Pause();
        first.stall = granting;
        CompletableFuture<Response> earlier = CompletableFuture.supplyAsync(() -> stalling.refresh(shared(reads)));
        granting.awaitReached();
        first.stall = null;
        Key writes = holding(key, granted(stalling.save(exclusive(reads))));
        await().until(
                        () -> memories.get(2).find(key).map(Response.Granted::mode),
                        Optional.of(LockMode.EXCLUSIVE)::equals);
        members.get(0).always(REFRESH, Fault.unreachable());
        granted(stalling.refresh(exclusive(writes)));
        assertThat(memories.get(0).delete(key)).isTrue();

        granting.end();
        granted(earlier.join());

        // Comes after all that the third was asked before.
        assertThat(stalling.find(writes))
                .get()
                .extracting(Response.Granted::mode)
                .isEqualTo(LockMode.EXCLUSIVE);
        assertThat(stalling.save(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
    }

    /** The first process has given its key away; a reader was let in beside what the second had promoted. */
    @Test
    void givenTransferredAndPromoted_whenAnEarlierRequestToShareComesLate_thenNoReaderGetsIn() throws Exception {
        Pause way = new Pause();
        members.get(2).next(SAVE, Fault.pausedBefore(way));
        Key reads = holding(key, granted(store.save(shared(key))));
        way.awaitReached();
        FaultyStore firstOfThem = new FaultyStore(memories.get(0));
        try (CombinedStore there =
                new CombinedStore(List.of(firstOfThem, memories.get(1), memories.get(2)), new ConsensusStrategy())) {
            granted(there.refresh(shared(reads)));
            await().until(() -> memories.get(2).find(key).isPresent());
            firstOfThem.always(SAVE, Fault.unreachable());
            granted(there.save(exclusive(reads)));
            assertThat(memories.get(2).find(key))
                    .get()
                    .extracting(Response.Granted::mode)
                    .isEqualTo(LockMode.EXCLUSIVE);
            firstOfThem.heal();

            way.end();
            // Comes after the late request at the third, whose answer it needs.
            members.get(0).always(FIND, Fault.unreachable());
            assertThat(store.find(reads)).isPresent();

            assertThat(there.save(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /** What the second process promotes may have been exclusive still where the first was not answered. */
    @Test
    void givenTransferredBeforeAMemberDemoted_whenPromotedThere_thenThatMemberIsNotCountedOn() throws Exception {
        CombinedStore here = unfenced(members);
        Key writes = holding(key, granted(here.save(exclusive(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        Pause way = new Pause();
        members.get(2).next(SAVE, Fault.pausedBefore(way));
        Key reads = holding(key, granted(here.save(shared(writes))));
        way.awaitReached();
        others.get(0).always(SAVE, Fault.unreachable());
        try (CombinedStore there = unfenced(others)) {
            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> there.save(exclusive(reads)));
        }
        way.end();
        here.close();
    }

    /** The second process refuses to promote what it was not seen to share, and has nothing to put back. */
    @Test
    void givenPromotedHere_whenAPromotionElsewhereIsRefused_thenNoReaderGetsIn() {
        try (CombinedStore here = unfenced(members);
                CombinedStore there = unfenced(others)) {
            Key reads = holding(key, granted(here.save(shared(key))));
            granted(here.save(exclusive(reads)));
            await().until(
                            () -> memories.get(2).find(key).map(Response.Granted::mode),
                            Optional.of(LockMode.EXCLUSIVE)::equals);

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> there.save(exclusive(reads)));

            assertThat(there.save(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /** What was exclusive at the third elsewhere may still be demoted, also now that the key is back. */
    @Test
    void givenDemotedElsewhereAndBack_whenPromotedWithoutAnother_thenTheThirdIsNotCountedOn() throws Exception {
        try (CombinedStore here = unfenced(members);
                CombinedStore there = unfenced(others)) {
            Key writes = holding(key, granted(here.save(exclusive(key))));
            await().until(() -> memories.get(2).find(key).isPresent());
            granted(there.refresh(exclusive(writes)));

            promotedAfterADemotionOnItsWay(here, there, writes);
        }
    }

    /** As before; here the key was known as shared only. */
    @Test
    void givenPromotedAndDemotedElsewhereAndBack_whenPromotedWithoutAnother_thenTheThirdIsNotCountedOn()
            throws Exception {
        try (CombinedStore here = unfenced(members);
                CombinedStore there = unfenced(others)) {
            Key reads = holding(key, granted(here.save(shared(key))));
            await().until(() -> memories.get(2).find(key).isPresent());
            Key writes = holding(key, granted(there.save(exclusive(reads))));
            await().until(() -> memories.get(2).find(key).orElseThrow().mode() == LockMode.EXCLUSIVE);

            promotedAfterADemotionOnItsWay(here, there, writes);
        }
    }

    private void promotedAfterADemotionOnItsWay(CombinedStore here, CombinedStore there, Key writes)
            throws InterruptedException {
        Pause way = new Pause();
        others.get(2).next(SAVE, Fault.pausedBefore(way));
        Key reads = holding(key, granted(there.save(shared(writes))));
        way.awaitReached();
        members.get(0).always(SAVE, Fault.unreachable());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> here.save(exclusive(reads)));

        members.get(0).heal();
        way.end();
        await().until(() -> here.save(exclusive(reads)) instanceof Response.Granted);
    }

    /** A request to share that was under way kept this store from forgetting what it knew. */
    @Test
    void givenDemotedElsewhereAndBack_whenPromotedWhileASecondLockShares_thenTheThirdIsNotCountedOn() throws Exception {
        try (CombinedStore here = unfenced(members);
                CombinedStore there = unfenced(others)) {
            Key writes = holding(key, granted(here.save(exclusive(key))));
            await().until(() -> memories.get(2).find(key).isPresent());
            granted(there.refresh(exclusive(writes)));
            Pause way = new Pause();
            others.get(2).next(SAVE, Fault.pausedBefore(way));
            Key reads = holding(key, granted(there.save(shared(writes))));
            way.awaitReached();
            Pause sharing = new Pause();
            members.get(0).next(SAVE, Fault.none(), NOT_SENT);
            members.get(1).next(SAVE, NOT_SENT);
            members.get(2).next(SAVE, Fault.meanwhile(() -> {
                sharing.pass();
                throw new LockStorageException("x", "not sent", null, LockStorageException.Failure.NOT_SENT);
            }));
            BackgroundCall<Response> second = BackgroundCall.start(() -> here.save(shared(reads)));
            sharing.awaitReached();
            int before = saves(members.get(1));
            BackgroundCall<Response> first = BackgroundCall.start(() -> here.save(exclusive(reads)));
            await().until(() -> first.isDone() || saves(members.get(1)) > before);

            sharing.end();

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(first::result);
            assertThatExceptionOfType(LockStorageException.class).isThrownBy(second::result);
            members.get(0).heal();
            way.end();
            await().until(() -> here.save(exclusive(reads)) instanceof Response.Granted);
        }
    }

    /** The third has no part that is known here, and was promoted elsewhere. */
    @Test
    void givenDemotedElsewhereAndBack_whenPromotedAfterASecondLockShares_thenTheThirdIsNotCountedOn() throws Exception {
        grantToken(memories.get(2));
        grantToken(memories.get(2));
        members.get(2).next(SAVE, NOT_SENT);

        promotedAfterADemotionElsewhereAndASecondLock(holding(key, granted(store.save(exclusive(key)))));
    }

    /** As before; here the third was known to share. */
    @Test
    void givenOnlySharedAtTheThird_whenDemotedElsewhereAndBack_thenTheThirdIsNotCountedOn() throws Exception {
        grantToken(memories.get(2));
        grantToken(memories.get(2));
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).next(SAVE, NOT_SENT);

        promotedAfterADemotionElsewhereAndASecondLock(holding(key, granted(store.save(exclusive(reads)))));
    }

    private void promotedAfterADemotionElsewhereAndASecondLock(Key writes) throws InterruptedException {
        try (CombinedStore there = new CombinedStore(others, new ConsensusStrategy())) {
            granted(there.refresh(exclusive(writes)));
            await().until(() ->
                    memories.get(2).find(key).map(Response.Granted::mode).equals(Optional.of(LockMode.EXCLUSIVE)));
            Pause way = new Pause();
            others.get(2).next(SAVE, Fault.pausedBefore(way));
            Key reads = holding(key, granted(there.save(shared(writes))));
            way.awaitReached();
            members.get(2).next(SAVE, NOT_SENT);
            granted(store.save(shared(reads)));
            members.get(0).next(SAVE, NOT_SENT);

            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));

            way.end();
            await().until(() -> store.save(exclusive(reads)) instanceof Response.Granted);
        }
    }

    /** Here the third was known to share; elsewhere it had a greater token than was agreed on. */
    @Test
    void givenPromotedAndDemotedElsewhereWithAGreaterToken_whenPromotedWithoutAnother_thenTheThirdIsNotCountedOn()
            throws Exception {
        grantToken(memories.get(2));
        grantToken(memories.get(2));
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        Pause late = new Pause();
        others.get(2).next(SAVE, Fault.pausedAfter(late));
        try (CombinedStore there = new CombinedStore(others, new ConsensusStrategy())) {
            Key writes = holding(key, granted(there.save(exclusive(reads))));
            late.awaitReached();
            late.end();

            promotedAfterADemotionOnItsWay(store, there, writes);
        }
    }

    /** Whether what one has may become shared says nothing of whether it was demoted elsewhere. */
    @Test
    void givenOneMayBeDemoted_whenPromotedByASecondLock_thenTheOthersAreEnough() {
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).always(SAVE, NOT_SENT);
        granted(store.save(exclusive(reads)));
        members.get(0).next(SAVE, Fault.unreachable());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(shared(reads)));
        members.get(2).heal();

        assertThat(granted(store.save(exclusive(reads))).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    private static int saves(FaultyStore member) {
        return (int) member.operations().stream().filter(SAVE::equals).count();
    }

    /** That the third has no more than its shared part says nothing of the first, which does not answer. */
    @Test
    void givenPromotedWithoutTheThird_whenPromotedByASecondLockWithoutTheFirst_thenNoReaderGetsIn() throws Exception {
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).always(SAVE, Fault.unreachable());
        Key writes = holding(key, granted(store.save(exclusive(reads))));
        for (FaultyStore.Operation operation : FaultyStore.Operation.values()) {
            members.get(0).always(operation, Fault.unreachable());
        }

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));

        try (CombinedStore there = new CombinedStore(others, new ConsensusStrategy())) {
            assertThat(there.save(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        }
        members.get(2).heal();
        members.get(0).heal();
        assertThat(granted(store.refresh(exclusive(writes))).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** A promotion that another thread of the same owner has been granted is not taken back with this one. */
    @Test
    void givenPromoted_whenASecondLockIsNotAnswered_thenNoReaderGetsIn() throws Exception {
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        Key writes = holding(key, granted(store.save(exclusive(reads))));
        // Two are enough for an answer; none of the three may be asked for the first after this.
        for (InMemoryStore memory : memories) {
            await().until(() -> memory.find(key).map(Response.Granted::mode), Optional.of(LockMode.EXCLUSIVE)::equals);
        }
        members.get(0).next(SAVE, Fault.replyLost());
        members.get(1).next(SAVE, Fault.replyLost());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));

        assertThat(stalling.save(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        granted(store.refresh(exclusive(writes)));
    }

    /** The second had the members demote what they had granted to the first, before that was told. */
    @Test
    void givenGrantedButNotTold_whenASecondLockIsNotAnswered_thenItIsNotToldExclusiveWhereReadersGetIn()
            throws Exception {
        grantToken(memories.get(1));
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).always(SAVE, Fault.unreachable());
        Pause raising = new Pause();
        members.get(0).next(RAISE_FENCE, Fault.pausedBefore(raising));
        BackgroundCall<Response> first = BackgroundCall.start(() -> store.save(exclusive(reads)));
        raising.awaitReached();
        members.get(1).next(SAVE, Fault.replyLost());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));

        raising.end();
        assertThat(first.result()).isInstanceOf(Response.Conflicted.class);
        granted(store.refresh(shared(reads)));
        granted(stalling.save(shared(Key.of("x"))));
    }

    /** As before, of a key that held nothing: the second had the members give back what they had granted to the first. */
    @Test
    void givenGrantedButNotTold_whenASecondLockThatClaimsNothingIsNotAnswered_thenNoRivalGetsIn() throws Exception {
        grantToken(memories.get(1));
        members.get(2).always(SAVE, Fault.unreachable());
        Pause raising = new Pause();
        members.get(0).next(RAISE_FENCE, Fault.pausedBefore(raising));
        BackgroundCall<Response> first = BackgroundCall.start(() -> store.save(exclusive(key)));
        raising.awaitReached();
        members.get(1).next(SAVE, Fault.replyLost());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(key)));

        raising.end();
        granted(first.result());
        members.get(2).heal();
        assertThat(stalling.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
    }

    /** So that the next one there is greater than those of the others. */
    private static void grantToken(InMemoryStore memory) {
        Key another = Key.of("x");
        granted(memory.save(exclusive(another)));
        assertThat(memory.delete(another)).isTrue();
    }

    private static CombinedStore unfenced(List<FaultyStore> stores) {
        return new CombinedStore(stores.stream().map(Unfenced::new).toList(), new ConsensusStrategy());
    }

    /** Where the key came from, members count by tokens of their own. */
    @Test
    void givenTransferred_whenDemotedThere_thenReadersGetIn() {
        Key writes = holding(key, granted(store.save(exclusive(key))));
        try (CombinedStore there = unfenced(members)) {
            assertThat(granted(there.save(shared(writes))).mode()).isEqualTo(LockMode.SHARED);

            granted(there.save(shared(Key.of("x"))));
        }
    }

    /** The renewal took the place of what was demoted, and the next one was told that it is exclusive still. */
    @Test
    void givenDemotedMeanwhile_whenAnEarlierRenewalIsAnswered_thenItIsSharedAllTheSame() throws Exception {
        Key writes = holding(key, granted(store.save(exclusive(key))));
        Pause answers = new Pause();
        members.get(0).next(REFRESH, Fault.pausedAfter(answers));
        members.get(1).next(REFRESH, Fault.pausedAfter(answers));
        CompletableFuture<Response> renewal = CompletableFuture.supplyAsync(() -> store.refresh(exclusive(writes)));
        answers.awaitReached();
        CompletableFuture<Response> demotion = CompletableFuture.supplyAsync(() -> store.save(shared(writes)));
        await().until(() ->
                members.get(2).operations().stream().filter(SAVE::equals).count() == 2);

        answers.end();
        Key reads = holding(key, granted(demotion.join()));
        Response renewed = renewal.join();

        assertThat(granted(store.refresh(shared(reads))).mode()).isEqualTo(LockMode.SHARED);
        assertThat(renewed).isInstanceOf(Response.Lost.class);
    }

    /** As a second Lock over the same key asks: of a single store, too, a refusal ends nothing that is held. */
    @Test
    void givenHeld_whenTheSameKeyIsRefusedWithoutAClaim_thenItIsHeldStill() {
        Key held = holding(key, granted(store.save(exclusive(key))));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        assertThat(memories.get(1).delete(key)).isTrue();
        granted(memories.get(1).save(exclusive(Key.of("x"))));
        members.get(2).always(SAVE, Fault.unreachable());

        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Conflicted.class);

        granted(store.refresh(exclusive(held)));
    }

    /** Its thread can be made to wait where it begins to watch what was granted. */
    private static final class Stalling implements SharedStore, ExpiringStore {

        private final FaultyStore store;
        private volatile @Nullable Pause stall;

        Stalling(FaultyStore store) {
            this.store = store;
        }

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
            Pause pause = stall;
            Response response = store.refresh(request);
            if (pause == null || !(response instanceof Response.Granted granted)) {
                return response;
            }
            Lease lease = granted.lease();
            Lease stalled = new Lease(lease.since(), lease.ttl(), Optional.of(new Stage(pause)), lease.isLive());
            return new Response.Granted(granted.mode(), granted.fencingToken(), stalled);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }
    }

    private static final class Stage extends CompletableFuture<LossReason> {

        private final Pause pause;

        Stage(Pause pause) {
            this.pause = pause;
        }

        @Override
        public CompletableFuture<LossReason> whenComplete(BiConsumer<? super LossReason, ? super Throwable> action) {
            pause.pass();
            return super.whenComplete(action);
        }
    }
}

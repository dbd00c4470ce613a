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
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one request of a key has members give back or demote, while another Lock over the key is being granted something. */
class CombinedUndoTest {

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TimeLimits.LIMIT);
    private final CombinedStore there = new CombinedStore(memories, new ConsensusStrategy(), TimeLimits.LIMIT);
    private final Key key = Key.of("x");
    private final Pause raising = new Pause();

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
        there.close();
    }

    /** What the first gave back was what the third was granted meanwhile, of which the first did not know. */
    @Test
    void givenGrantedButNotTold_whenASecondLockIsNotAnsweredAndAThirdIsGranted_thenNoRivalGetsIn() throws Exception {
        memberOneIsAhead();
        BackgroundCall<Response> first = firstIsGrantedByTwo(exclusive(key));
        members.get(1).next(SAVE, Fault.replyLost());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(key)));
        Pause answers = new Pause();
        members.get(0).next(SAVE, Fault.none(), Fault.pausedAfter(answers));
        members.get(1).next(SAVE, Fault.pausedAfter(answers));
        BackgroundCall<Response> third = BackgroundCall.start(() -> store.save(exclusive(key)));
        answers.awaitReached();
        Pause goneFromFirst = ended();
        Pause goneFromSecond = ended();
        Pause given = new Pause();
        members.get(0).next(DELETE, Fault.none(), Fault.pausedAfter(goneFromFirst));
        members.get(1).next(DELETE, Fault.pausedAfter(goneFromSecond));
        members.get(2).next(DELETE, Fault.pausedAfter(given));
        raising.end();
        // The last that is asked: so the others are, too.
        given.awaitReached();

        answers.end();

        granted(third.result());
        goneFromFirst.awaitReached();
        goneFromSecond.awaitReached();
        assertThat(rival(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        given.end();
        granted(first.result());
        assertThat(rival(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
    }

    /** A release forgot what it was to end before members were asked to, and what was taken in between was released. */
    @Test
    void givenHeld_whenASecondLockAcquiresWhileItIsReleased_thenNoRivalGetsIn() throws Exception {
        Released first = new Released(members.get(0));
        try (CombinedStore here = new CombinedStore(
                List.of(first, members.get(1), members.get(2)), new ConsensusStrategy(), TimeLimits.LIMIT)) {
            Key writes = holding(key, granted(here.save(exclusive(key))));
            await().until(() -> saves(2) == 1);
            CompletableFuture<BackgroundCall<Response>> second = new CompletableFuture<>();
            first.whenReleased = () -> {
                first.whenReleased = () -> {};
                second.complete(BackgroundCall.start(() -> here.save(exclusive(key))));
                await().until(() -> saves(1) > 1 && saves(2) > 1);
            };

            // What the second gives back, to try again, may come first.
            boolean unused = here.delete(writes);

            granted(second.join().result());
            assertThat(rival(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /** The request of a second Lock goes on, also at a member that was not sent it yet: only what nobody waits for is withdrawn. */
    @Test
    void givenASecondLockIsBeingGranted_whenTheKeyIsReleased_thenItDoesNotFail() throws Exception {
        Key another = Key.of("x");
        Pause releasing = new Pause();
        members.get(0).next(DELETE, Fault.pausedBefore(releasing));
        assertThat(store.delete(holding(another, granted(store.save(exclusive(another))))))
                .isTrue();
        members.get(2).always(SAVE, Fault.unreachable());
        Pause answer = new Pause();
        members.get(1).next(SAVE, Fault.pausedAfter(answer));
        BackgroundCall<Response> second = BackgroundCall.start(() -> store.save(exclusive(key)));
        answer.awaitReached();
        long before = deletes(2);
        BackgroundCall<Boolean> release = BackgroundCall.start(() -> store.delete(key));
        await().until(() -> deletes(2) > before);

        releasing.end();
        answer.end();

        assertThat(release.result()).isTrue();
        // Tried again after the release, for it was being granted then.
        granted(second.result());
        assertThat(rival(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
    }

    private long deletes(int member) {
        return members.get(member).operations().stream().filter(DELETE::equals).count();
    }

    /** What the first had members demote was what the third was granted meanwhile. */
    @Test
    void givenPromotedButNotTold_whenReleasedAndAThirdIsGranted_thenNoReaderGetsIn() throws Exception {
        memberOneIsAhead();
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        BackgroundCall<Response> first = firstIsGrantedByTwo(exclusive(reads));
        assertThat(store.delete(reads)).isTrue();
        Pause answers = new Pause();
        members.get(0).next(SAVE, Fault.pausedAfter(answers));
        members.get(1).next(SAVE, Fault.pausedAfter(answers));
        BackgroundCall<Response> third = BackgroundCall.start(() -> store.save(exclusive(key)));
        answers.awaitReached();
        Pause demoting = new Pause();
        members.get(2).next(FIND, Fault.pausedBefore(demoting));
        raising.end();
        // The last that is asked: so the others are, too.
        demoting.awaitReached();

        answers.end();

        granted(third.result());
        demoting.end();
        assertThat(first.result()).isNotInstanceOf(Response.Granted.class);
        assertThat(rival(shared(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
    }

    /** A TTL that no member can keep: nobody was asked to do anything. */
    @Test
    void givenHeld_whenAllMembersRefuseTheTtlOfADemotion_thenItIsTheCallersMistake() {
        Key writes = holding(key, granted(store.save(exclusive(key))));
        members.forEach(member -> member.always(SAVE, tooLong()));
        members.forEach(member -> member.always(REFRESH, tooLong()));

        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> store.save(shared(writes)));
    }

    private static Fault tooLong() {
        return Fault.meanwhile(() -> {
            throw new IllegalArgumentException("too long");
        });
    }

    private void memberOneIsAhead() {
        Key another = Key.of("x");
        granted(memories.get(1).save(exclusive(another)));
        assertThat(memories.get(1).delete(another)).isTrue();
    }

    /** The third member has failed, and the first is asked to raise its token. */
    private BackgroundCall<Response> firstIsGrantedByTwo(Request request) throws InterruptedException {
        int before = saves(2);
        members.get(2).always(SAVE, Fault.unreachable());
        members.get(0).next(RAISE_FENCE, Fault.pausedBefore(raising));
        BackgroundCall<Response> first = BackgroundCall.start(() -> store.save(request));
        raising.awaitReached();
        await().until(() -> saves(2) > before);
        return first;
    }

    private Response rival(Request request) {
        return there.save(request);
    }

    private static Pause ended() {
        Pause pause = new Pause();
        pause.end();
        return pause;
    }

    private int saves(int member) {
        return (int)
                members.get(member).operations().stream().filter(SAVE::equals).count();
    }

    /** Something happens when it is asked to release, before others are. */
    private static final class Released implements SharedStore, ExpiringStore, AsyncStore {

        private final FaultyStore store;
        private volatile Runnable whenReleased = () -> {};

        Released(FaultyStore store) {
            this.store = store;
        }

        @Override
        public CompletionStage<Response> saveAsync(Request request, long proposal) {
            return CompletableFuture.completedFuture(save(request));
        }

        @Override
        public CompletionStage<Boolean> deleteAsync(Key key) {
            whenReleased.run();
            return CompletableFuture.completedFuture(delete(key));
        }

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
            return store.refresh(request);
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
}

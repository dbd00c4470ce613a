package dev.latchkey.testkit;

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
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.LossReason;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Three members whose holds last as long as a session, and whose clocks tell when that may be over. */
class CombinedSessionsTest {

    private final List<Sessions> members =
            Stream.generate(Sessions::new).limit(3).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy());
    private final Key key = Key.of("x");

    @AfterEach
    void close() {
        store.close();
    }

    /** Else a rival could have it before the holder knows. */
    @Test
    void givenTooFewSessionsAreLeft_whenPartsAreGivenBack_thenItWasToldBefore() {
        Lease lease = granted(store.save(exclusive(key))).lease();
        CompletableFuture<Boolean> wasTold = new CompletableFuture<>();
        members.get(2).whenDeleted = () -> wasTold.complete(isLost(lease));

        members.get(0).end();
        members.get(1).end();

        assertThat(wasTold).isCompletedWithValue(true);
    }

    /** Whoever looks meanwhile has to see it. */
    @Test
    void givenTooFewSessionsAreLeft_whenPartsAreGivenBack_thenItIsNotLive() {
        Lease lease = granted(store.save(exclusive(key))).lease();
        CompletableFuture<Boolean> wasLive = new CompletableFuture<>();
        members.get(2).whenDeleted = () -> wasLive.complete(lease.isLive().getAsBoolean());

        members.get(0).end();
        assertThat(lease.isLive().getAsBoolean()).isTrue();
        members.get(1).end();

        assertThat(wasLive).isCompletedWithValue(false);
        assertThat(lease.isLive().getAsBoolean()).isFalse();
        assertThat(isLost(lease)).isTrue();
    }

    @Test
    void givenOnlySharedAtOne_whenAnotherSessionEnds_thenTheExclusiveHoldIsLost() {
        Key reads = holding(key, granted(store.save(shared(key))));
        members.get(2).failure = Failure.NOT_SENT;
        Lease lease = granted(store.save(exclusive(reads))).lease();
        assertThat(lease.isLive().getAsBoolean()).isTrue();

        members.get(1).end();

        assertThat(lease.isLive().getAsBoolean()).isFalse();
        assertThat(isLost(lease)).isTrue();
    }

    /** What the third had before may still become shared: it was counted as exclusive when the second had ended. */
    @Test
    void givenOneHasNotAnsweredADemotion_whenAnotherSessionEnds_thenWhatWasPromotedSinceIsLost() {
        Lease lease = granted(store.save(exclusive(demotedAtTwo()))).lease();
        assertThat(lease.isLive().getAsBoolean()).isTrue();

        members.get(1).end();

        assertThat(lease.isLive().getAsBoolean()).isFalse();
        assertThat(isLost(lease)).isTrue();
    }

    @Test
    void givenOneHasNotAnsweredADemotion_whenAnotherSessionEnds_thenWhatIsSharedStays() {
        Lease lease = granted(store.save(exclusive(key))).lease();
        members.get(2).failure = Failure.IN_DOUBT;
        granted(store.save(shared(holding(key, granted(store.save(exclusive(key)))))));

        members.get(1).end();

        assertThat(lease.isLive().getAsBoolean()).isTrue();
    }

    /** To look is how such a hold is refreshed. */
    @Test
    void givenOneHasNotAnsweredADemotion_whenLookedAtWithoutAnother_thenItDoesNotCount() {
        Key writes = holding(key, granted(store.save(exclusive(demotedAtTwo()))));
        assertThat(store.find(writes)).get().extracting(Response.Granted::mode).isEqualTo(LockMode.EXCLUSIVE);
        members.get(1).failure = Failure.IN_DOUBT;

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.find(writes));
    }

    /** The first two that answer are enough for a hold, and one of them shares. */
    @Test
    void givenOnlySharedAtOne_whenLookedAt_thenExclusive() {
        Key reads = holding(key, granted(store.save(shared(key))));
        members.get(0).failure = Failure.NOT_SENT;
        Key writes = holding(key, granted(store.save(exclusive(reads))));
        members.get(0).failure = null;

        assertThat(store.find(writes)).get().extracting(Response.Granted::mode).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** It was counted on when another session ended, though it had said that it has no part: a rival can be there. */
    @Test
    void givenOneHasSaidThatItHasNoPart_whenAnotherSessionEnds_thenTheHoldIsLost() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        assertThat(members.get(2).memory.delete(key)).isTrue();
        assertThat(store.find(holding(key, saved))).isPresent();

        members.get(1).end();

        await().until(() -> isLost(saved.lease()));
        assertThat(saved.lease().isLive().getAsBoolean()).isFalse();
    }

    /** To look is how such a hold is refreshed, and whoever looks may look for others before it says so. */
    @Test
    void givenTooFewHaveAPart_whenLookedAt_thenItWasToldBeforeTheRestIsGivenBack() {
        Response.Granted saved = granted(store.save(exclusive(key)));
        assertThat(members.get(0).memory.delete(key)).isTrue();
        assertThat(members.get(1).memory.delete(key)).isTrue();
        CompletableFuture<Boolean> wasTold = new CompletableFuture<>();
        members.get(2).whenDeleted = () -> wasTold.complete(isLost(saved.lease()));

        assertThat(store.find(holding(key, saved))).isEmpty();

        assertThat(wasTold).succeedsWithin(TimeLimits.LIMIT).isEqualTo(true);
    }

    /** Else a rival could have it before the holder knows: that is told with the rest of the batch. */
    @Test
    void givenOneOfABatchIsLost_whenTheNextIsRefreshed_thenPartsOfTheFirstAreNotGivenBackYet() {
        Key lost = holding(key, granted(store.save(exclusive(key))));
        Key another = Key.of("y");
        Key held = holding(another, granted(store.save(exclusive(another))));
        assertThat(members.get(0).memory.delete(key)).isTrue();
        assertThat(members.get(1).memory.delete(key)).isTrue();
        InMemoryStore third = members.get(2).memory;
        CompletableFuture<Boolean> wasThere = new CompletableFuture<>();
        members.forEach(member -> member.lost =
                new WatchedSession(() -> wasThere.complete(third.find(key).isPresent())));

        List<RefreshResult> results = store.refreshAll(List.of(exclusive(lost), exclusive(held)));

        assertThat(results.get(0)).isEqualTo(new RefreshResult.Answered(new Response.Lost(LossReason.SESSION_LOST)));
        assertThat(wasThere).isCompletedWithValue(true);
        await().until(() -> third.find(key).isEmpty());
    }

    /** Shared again at two members; the third has not answered, and may still do as it was asked. */
    private Key demotedAtTwo() {
        Key writes = holding(key, granted(store.save(exclusive(key))));
        members.get(2).failure = Failure.IN_DOUBT;
        Key reads = holding(key, granted(store.save(shared(writes))));
        members.get(2).failure = null;
        return reads;
    }

    private static boolean isLost(Lease lease) {
        return lease.lost().orElseThrow().toCompletableFuture().isDone();
    }

    /** Tells when somebody begins to watch it. */
    private static final class WatchedSession extends CompletableFuture<LossReason> {

        private final Runnable whenWatched;

        WatchedSession(Runnable whenWatched) {
            this.whenWatched = whenWatched;
        }

        @Override
        public CompletableFuture<LossReason> whenComplete(BiConsumer<? super LossReason, ? super Throwable> action) {
            whenWatched.run();
            return super.whenComplete(action);
        }
    }

    private static final class Sessions implements AsyncStore {

        private final InMemoryStore memory = new InMemoryStore();
        private CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private Runnable whenDeleted = () -> {};
        private boolean lives = true;
        private @Nullable Failure failure;

        void end() {
            lives = false;
            lost.complete(LossReason.SESSION_LOST);
        }

        private void failIfAway(Key key) {
            if (failure != null) {
                throw new LockStorageException(key.resource(), "away", null, failure);
            }
        }

        private Response.Granted inSession(Response.Granted granted) {
            return new Response.Granted(granted.mode(), OptionalLong.empty(), Lease.session(lost, () -> lives));
        }

        @Override
        public Response save(Request request) {
            failIfAway(request.key());
            Key key = request.key();
            Key known = key.claiming(memory.find(key).map(had -> new Key.Held(had.mode(), had.fencingToken())));
            Request endless = new Request(known, request.mode(), Duration.ofDays(1), request.retryIntent());
            return memory.save(endless) instanceof Response.Granted granted
                    ? inSession(granted)
                    : Response.Conflicted.NO_HINT;
        }

        @Override
        public CompletionStage<Response> saveAsync(Request request, long proposal) {
            return CompletableFuture.completedFuture(save(request));
        }

        @Override
        public boolean delete(Key key) {
            whenDeleted.run();
            return memory.delete(key);
        }

        @Override
        public CompletionStage<Boolean> deleteAsync(Key key) {
            return CompletableFuture.completedFuture(delete(key));
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            failIfAway(key);
            return memory.find(key).map(this::inSession);
        }
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.StickyLocks.STICKY;
import static dev.latchkey.testkit.StickyLocks.usedToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How what is kept is released by a store that answers without a thread that waits. */
class StickyAsyncReleaseTest {

    private final InMemoryStore memory = new InMemoryStore();
    private final Async store = new Async(memory);
    private final LockFactory here = new LockFactory(store);

    @AfterEach
    void close() {
        store.answers = store::deleted;
        store.failures = 0;
        store.answerAll();
        here.close();
        memory.close();
    }

    @Test
    void givenKept_whenRecalled_thenItIsReleasedByTheThreadThatHears() {
        assertThat(usedToken(sticky("x"))).isPositive();

        Response first = memory.save(exclusive(Key.of("x")));

        assertThat(first).isInstanceOf(Response.Conflicted.class);
        assertThat(store.callers).containsExactly(Thread.currentThread());
        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Granted.class);
        assertThat(store.deletes).isEmpty();
    }

    /** It may have been sent, or not. */
    @Test
    void givenItCannotBeSent_whenRecalled_thenAThreadReleasesIt() {
        assertThat(usedToken(sticky("x"))).isPositive();
        store.answers = key -> {
            throw new OutOfMemoryError("unable to create native thread");
        };

        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        await().atMost(TimeLimits.LIMIT).until(() -> memory.holders("x").isEmpty());
        assertThat(store.deletes).hasSize(1);
    }

    /** As a store answers at once that has lost its connection: the hold stayed until its lease was over. */
    @Test
    void givenItWasNotSent_whenRecalled_thenAThreadReleasesIt() {
        assertThat(usedToken(sticky("x"))).isPositive();
        store.answers = key -> CompletableFuture.failedFuture(
                new LockStorageException("x", "not connected", null, LockStorageException.Failure.NOT_SENT));

        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        await().atMost(TimeLimits.LIMIT).until(() -> memory.holders("x").isEmpty());
        assertThat(store.deletes).hasSize(1);
    }

    /** As where the connection has broken on which it was sent: the hold stayed until its lease was over. */
    @Test
    void givenItIsInDoubt_whenRecalled_thenAThreadReleasesItOnce() throws Exception {
        Lock lock = sticky("x");
        assertThat(usedToken(lock)).isPositive();
        store.answers = key -> CompletableFuture.failedFuture(inDoubt());

        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        assertThat(lock.tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(store.deletes).hasSize(1);
    }

    /** It would be refused again. */
    @Test
    void givenItIsDenied_whenRecalled_thenItIsNotSentAgain() {
        Lock lock = sticky("x");
        assertThat(usedToken(lock)).isPositive();
        store.answers = key -> CompletableFuture.failedFuture(
                new LockStorageException("x", "not permitted", null, LockStorageException.Failure.DENIED));

        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        assertThat(memory.holders("x")).hasSize(1);
        assertThat(lock.tryAcquire()).isFalse();
        assertThat(store.deletes).isEmpty();
    }

    /** Whoever closes waits for one answer of each, and no longer. */
    @Test
    void givenItIsInDoubt_whenTheFactoryIsClosed_thenItIsNotSentAgain() {
        assertThat(usedToken(sticky("x"))).isPositive();
        store.answers = key -> CompletableFuture.failedFuture(inDoubt());

        here.close();

        assertThat(store.callers).hasSize(1);
        assertThat(store.deletes).isEmpty();
    }

    /** As of a server that is silent: threads that wait for it in vain are not there for others. */
    @Test
    @Tag("slow")
    void givenItIsInDoubtUntilItIsOver_whenRecalled_thenItIsNotSentAgain() throws Exception {
        Duration brief = TimeLimits.ttl(Duration.ofSeconds(2));
        Lock lock = here.lock("x").ttl(brief).sticky(brief).create();
        assertThat(usedToken(lock)).isPositive();
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        store.answers = key -> answer;
        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        awaitTheEndOfALease(brief.multipliedBy(9).dividedBy(4));

        answer.completeExceptionally(inDoubt());

        assertThat(lock.tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(store.deletes).isEmpty();
    }

    /** What was not answered may have extended it: then it is not over when its last known lease is. */
    @Test
    @Tag("slow")
    void givenALongerRenewalWasNotAnsweredEither_whenItIsInDoubt_thenItIsSentAgain() throws Exception {
        Duration brief = TimeLimits.ttl(Duration.ofSeconds(2));
        assertThat(usedToken(here.lock("x").ttl(brief).sticky(brief).create())).isPositive();
        Lock longer = sticky("x");
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        store.answers = key -> answer;
        store.renewals = response -> {
            throw inDoubt();
        };
        assertThatThrownBy(longer::tryAcquire).isInstanceOf(LockStorageException.class);
        awaitTheEndOfALease(brief.multipliedBy(9).dividedBy(4));
        assertThat(memory.holders("x")).hasSize(1);

        answer.completeExceptionally(inDoubt());

        await().atMost(TimeLimits.LIMIT).until(() -> memory.holders("x").isEmpty());
    }

    private void awaitTheEndOfALease(Duration ttl) {
        assertThat(memory.save(exclusive(Key.of("the lease"), ttl))).isInstanceOf(Response.Granted.class);
        await().atMost(TimeLimits.LIMIT).until(() -> memory.holders("the lease").isEmpty());
    }

    /** A thread that sends it first may find a connection that has broken. */
    @Test
    void givenAThreadsReleaseIsInDoubt_whenRecalled_thenItSendsItAgain() {
        assertThat(usedToken(sticky("x"))).isPositive();
        store.answers = key -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        store.failures = 1;

        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        await().atMost(TimeLimits.LIMIT).until(() -> memory.holders("x").isEmpty());
        assertThat(store.deletes).hasSize(2);
    }

    @Test
    void givenItsReleaseFails_whenAcquired_thenTheStoreIsAsked() throws Exception {
        Lock lock = sticky("x");
        long token = usedToken(lock);
        store.answers = this::deletedWithoutAnAnswer;
        store.failures = 1;
        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);

        boolean isAcquired = lock.tryAcquire(TimeLimits.LIMIT);

        assertThat(isAcquired).isTrue();
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** A Lock of the process is not refused by the release of what the process kept. */
    @Test
    void givenItsReleaseIsNotAnswered_whenALockWaitsHere_thenItAcquiresAfterTheAnswer() throws Exception {
        Lock lock = sticky("x");
        assertThat(usedToken(lock)).isPositive();
        store.answers = this::later;
        assertThat(memory.save(exclusive(Key.of("x")))).isInstanceOf(Response.Conflicted.class);
        BackgroundCall<Boolean> waits = BackgroundCall.start(() -> lock.tryAcquire(TimeLimits.LIMIT));
        waits.awaitWaiting();

        store.answerAll();

        assertThat(waits.result()).isTrue();
    }

    @Test
    void givenManyAreKept_whenTheFactoryIsClosed_thenTheirReleasesDoNotWaitForOneAnother() throws Exception {
        List<String> resources = IntStream.range(0, 250).mapToObj(i -> "x" + i).toList();
        resources.forEach(resource -> assertThat(usedToken(sticky(resource))).isPositive());
        store.answers = this::later;

        BackgroundCall<Boolean> closed = BackgroundCall.start(() -> {
            here.close();
            return true;
        });

        // A few first, to see whether there is a server.
        await().atMost(TimeLimits.LIMIT).until(() -> store.open.size() == 4);
        store.answerAll();
        await().atMost(TimeLimits.LIMIT).until(() -> store.open.size() == 100);
        assertThat(closed.isDone()).isFalse();
        store.answers = store::deleted;
        store.answerAll();
        assertThat(closed.result()).isTrue();
        assertThat(resources)
                .allSatisfy(resource -> assertThat(memory.holders(resource)).isEmpty());
    }

    private CompletionStage<Boolean> later(Key key) {
        CompletionStage<Boolean> unused = store.deleted(key);
        CompletableFuture<Boolean> later = new CompletableFuture<>();
        store.open.add(later);
        return later;
    }

    private CompletionStage<Boolean> deletedWithoutAnAnswer(Key key) {
        CompletionStage<Boolean> unused = store.deleted(key);
        return CompletableFuture.failedFuture(inDoubt());
    }

    private static LockStorageException inDoubt() {
        return new LockStorageException("x", "no answer", null, LockStorageException.Failure.IN_DOUBT);
    }

    private Lock sticky(String resource) {
        return here.lock(resource).ttl(Fixture.LONG_TTL).sticky(STICKY).create();
    }

    private static final class Async extends CountedStore implements AsyncStore {

        private final InMemoryStore memory;
        private final Queue<Thread> callers = new ConcurrentLinkedQueue<>();
        private final Queue<Key> deletes = new ConcurrentLinkedQueue<>();
        private final Queue<CompletableFuture<Boolean>> open = new ConcurrentLinkedQueue<>();
        private volatile int failures;
        private volatile Function<Key, CompletionStage<Boolean>> answers = this::deleted;
        private volatile UnaryOperator<Response> renewals = response -> response;

        Async(InMemoryStore memory) {
            super(memory);
            this.memory = memory;
        }

        @Override
        public CompletionStage<Response> saveAsync(Request request, long proposal) {
            return CompletableFuture.completedFuture(memory.save(request, proposal));
        }

        @Override
        public CompletionStage<Boolean> deleteAsync(Key key) {
            callers.add(Thread.currentThread());
            return answers.apply(key);
        }

        CompletionStage<Boolean> deleted(Key key) {
            return CompletableFuture.completedFuture(memory.delete(key));
        }

        @Override
        public Response refresh(Request request) {
            return renewals.apply(super.refresh(request));
        }

        @Override
        public boolean delete(Key key) {
            deletes.add(key);
            if (deletes.size() <= failures) {
                throw inDoubt();
            }
            return super.delete(key);
        }

        /** Not what is asked because of these answers. */
        void answerAll() {
            for (int asked = open.size(); asked > 0; asked--) {
                open.remove().complete(true);
            }
        }
    }
}

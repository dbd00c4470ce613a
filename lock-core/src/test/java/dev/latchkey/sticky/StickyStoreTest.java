package dev.latchkey.sticky;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of what is kept when the store fails, or answers at a bad moment. Its lease outlasts each test. */
class StickyStoreTest {

    private static final Duration LONG = LIMIT.multipliedBy(4);
    private static final Duration SHORT = Duration.ofMillis(200);

    private final StoreBetween between = new StoreBetween();
    private final FactoryThreads threads = new FactoryThreads();
    private final Key key = Key.of("x");

    @AfterEach
    void close() {
        threads.close();
    }

    @Test
    void givenKept_whenItsReleaseCannotBeSentWithoutWaiting_thenAThreadSendsIt() throws Exception {
        between.onDeleteAsync = Optional.of(() -> CompletableFuture.failedFuture(StoreBetween.notSent()));
        StickyStore sticky = new StickyStore(between, threads);
        keep(sticky);

        assertThat(rivalGetsIt()).isTrue();
    }

    /** A process that ends meanwhile must not wait for ever. */
    @Test
    void givenKept_whenClosedAndItsReleaseCannotBeSentWithoutWaiting_thenItIsReleasedAll() {
        between.onDeleteAsync = Optional.of(() -> CompletableFuture.failedFuture(StoreBetween.notSent()));
        StickyStore sticky = new StickyStore(between, threads);
        keep(sticky);

        sticky.releaseIdle();

        assertThat(between.below().holders("x")).isEmpty();
    }

    /** Where there is no connection, each takes a thread, and the time limit of a request. */
    @Test
    void givenManyKept_whenClosedAndTheStoreHasNotAnsweredYet_thenAFewAreTriedFirst() {
        List<CompletableFuture<Boolean>> asked = new CopyOnWriteArrayList<>();
        between.onDeleteAsync = Optional.of(() -> {
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            asked.add(answer);
            return answer;
        });
        StickyStore sticky = new StickyStore(between, threads);
        for (int i = 0; i < 10; i++) {
            Key one = Key.of("kept " + i);
            assertThat(sticky.delete(claimed(one, sticky.save(request(one, LONG)))))
                    .isTrue();
        }

        CompletableFuture<Void> closing = CompletableFuture.runAsync(sticky::releaseIdle);

        await().atMost(LIMIT).until(() -> asked.size() >= 4);
        assertThat(closing).isNotDone();
        assertThat(asked)
                .hasSize(4)
                .allSatisfy(answer -> assertThat(answer.complete(true)).isTrue());
        await().atMost(LIMIT).until(() -> asked.size() == 10);
        asked.forEach(answer -> answer.complete(true));
        assertThat(closing).succeedsWithin(LIMIT);
    }

    /** Nobody would release it: the Lock has, and it is not used any more. */
    @Test
    void givenReleasedDuringARenewal_whenThatIsNotAnswered_thenARivalGetsIt() throws Exception {
        StickyStore sticky = new StickyStore(between, threads);
        Key held = acquire(sticky);
        between.onRefresh = response -> {
            assertThat(sticky.delete(held)).isTrue();
            throw StoreBetween.noAnswer();
        };

        assertThatThrownBy(() -> sticky.refresh(request(held, LONG))).isInstanceOf(LockStorageException.class);

        assertThat(rivalGetsIt()).isTrue();
    }

    @Test
    void givenARenewalOfSeveralThatFails_whenReleased_thenNothingIsKept() {
        StickyStore sticky = new StickyStore(between, threads);
        Key held = acquire(sticky);
        between.onRefresh = response -> {
            throw StoreBetween.noAnswer();
        };
        assertThatThrownBy(() -> sticky.refreshAll(List.of(request(held, LONG))))
                .isInstanceOf(LockStorageException.class);

        assertThat(sticky.delete(held)).isTrue();

        assertThat(between.below().holders("x")).isEmpty();
    }

    /** Nobody was using it when the recall came, and nobody releases it afterwards. */
    @Test
    void givenRecalledDuringTheRenewalByWhichALockAcquires_whenItsTimeIsOver_thenARivalGetsIt() throws Exception {
        between.reserved = 0;
        StickyStore sticky = new StickyStore(between, threads);
        keep(sticky);
        CompletableFuture<Response> refused = new CompletableFuture<>();
        between.onRefresh = response -> {
            refused.complete(between.below().save(rival()));
            return response;
        };

        assertThat(sticky.save(request(key, SHORT))).isInstanceOf(Response.Granted.class);

        assertThat(refused).isCompletedWithValueMatching(Response.Conflicted.class::isInstance);
        assertThat(rivalGetsIt()).isTrue();
    }

    /** The store keeps it for as long as was asked for, but nobody here knows that. */
    @Test
    void givenARenewalThatIsNotAnswered_whenTheTimeThatIsKnownIsOver_thenARivalGetsIt() throws Exception {
        StickyStore sticky = new StickyStore(between, threads);
        Response response = sticky.save(request(key, LockMode.EXCLUSIVE, SHORT, SHORT));
        long since = System.nanoTime();
        between.onRefresh = answer -> {
            throw StoreBetween.noAnswer();
        };
        assertThatThrownBy(() -> sticky.refresh(request(claimed(response), LONG)))
                .isInstanceOf(LockStorageException.class);
        await().atMost(LIMIT).until(() -> System.nanoTime() - since > 3 * SHORT.toNanos());

        assertThat(rivalGetsIt()).isTrue();
    }

    /** Found by the schedule fuzzer: what a request under way may have extended was taken for gone. */
    @Test
    void givenARenewalUnderWay_whenTheTimeThatIsKnownIsOverBeforeItFails_thenARivalGetsIt() throws Exception {
        StickyStore sticky = new StickyStore(between, threads);
        Response response = sticky.save(request(key, LockMode.EXCLUSIVE, SHORT, SHORT));
        long since = System.nanoTime();
        between.onRefresh = answer -> {
            await().atMost(LIMIT).until(() -> System.nanoTime() - since > 3 * SHORT.toNanos());
            assertThat(sticky.keepsAny()).isTrue();
            throw StoreBetween.noAnswer();
        };
        assertThatThrownBy(() -> sticky.refresh(request(claimed(response), LONG)))
                .isInstanceOf(LockStorageException.class);

        assertThat(rivalGetsIt()).isTrue();
    }

    /** Nobody would release what the renewal has extended: it is kept no more, and the one that shared it was taken for gone. */
    @Test
    void givenAReaderThatRenewsWhatIsKept_whenAnotherEndsTheKeepingAndReleasesLate_thenARivalGetsIt() throws Exception {
        StickyStore sticky = new StickyStore(between, threads);
        Key shared = claimed(sticky.save(request(key, LockMode.SHARED, SHORT, SHORT)));
        long since = System.nanoTime();
        between.onRefresh = answer -> {
            assertThat(sticky.save(request(shared, SHORT))).isInstanceOf(Response.Conflicted.class);
            await().atMost(LIMIT).until(() -> System.nanoTime() - since > 3 * SHORT.toNanos());
            boolean unused = sticky.keepsAny();
            assertThat(sticky.delete(shared)).isTrue();
            return answer;
        };
        Key other = Key.of("x");

        Response response = sticky.save(request(other, LockMode.SHARED, LONG, SHORT));

        assertThat(sticky.delete(claimed(other, response))).isTrue();
        assertThat(rivalGetsIt()).isTrue();
    }

    private Key acquire(StickyStore sticky) {
        return claimed(sticky.save(request(key, LONG)));
    }

    private Key claimed(Response response) {
        return claimed(key, response);
    }

    private static Key claimed(Key key, Response response) {
        assertThat(response).isInstanceOf(Response.Granted.class);
        return response instanceof Response.Granted granted
                ? key.claiming(Optional.of(new Key.Held(granted.mode(), granted.fencingToken())))
                : key;
    }

    private void keep(StickyStore sticky) {
        assertThat(sticky.delete(acquire(sticky))).isTrue();
        assertThat(between.below().holders("x")).hasSize(1);
    }

    private boolean rivalGetsIt() throws InterruptedException {
        return between.below().waitAndSave(rival(), LIMIT, new CompletableFuture<>()) instanceof Response.Granted;
    }

    private static Request rival() {
        return new Request(Key.of("x"), LockMode.EXCLUSIVE, LONG, RetryIntent.ONCE);
    }

    private static Request request(Key key, Duration ttl) {
        return request(key, LockMode.EXCLUSIVE, ttl, LONG);
    }

    private static Request request(Key key, LockMode mode, Duration ttl, Duration kept) {
        return new Request(key, mode, ttl, RetryIntent.ONCE, LeaseChange.EXTEND, "", kept);
    }
}

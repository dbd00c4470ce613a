package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LazyConnectionTest {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** B5: It is being opened at the server that was the master when that began. */
    @Test
    void givenItIsBeingOpened_whenAnotherIsNeeded_thenItIsReplacedOnceItIsThere() {
        AtomicInteger opened = new AtomicInteger();
        CompletableFuture<Void> slow = new CompletableFuture<>();
        CompletableFuture<Void> renewed = new CompletableFuture<>();
        LazyConnection<Integer> opening = new LazyConnection<>(
                () -> {
                    slow.join();
                    return opened.incrementAndGet();
                },
                ended -> {},
                () -> renewed.complete(null),
                LazyConnection::apart);
        CompletableFuture<Integer> first = opening.begin();

        opening.renew(() -> true);
        slow.complete(null);

        assertThat(first.join()).isEqualTo(1);
        Awaitility.await().atMost(LIMIT).until(renewed::isDone);
        assertThat(opening.there()).isEqualTo(2);
        opening.close(LIMIT);
    }

    /** Nobody could connect any more, for all waited for what had not begun. */
    @Test
    void givenNoThreadIsToBeHad_whenItIsAskedForLater_thenItIsOpened() {
        AtomicInteger refusals = new AtomicInteger(1);
        LazyConnection<String> opening = new LazyConnection<>(() -> "open", ended -> {}, () -> {}, refusing(refusals));

        assertThat(opening.begin()).isCompletedExceptionally();

        assertThat(opening.begin()
                        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join())
                .isEqualTo("open");
        opening.close(LIMIT);
    }

    /** The renewal was taken to be under way for ever, and a dead connection was never replaced. */
    @Test
    void givenNoThreadIsToBeHad_whenAnotherIsNeeded_thenItIsReplacedLater() {
        AtomicInteger refusals = new AtomicInteger();
        AtomicInteger opened = new AtomicInteger();
        CompletableFuture<Void> renewed = new CompletableFuture<>();
        LazyConnection<Integer> opening = new LazyConnection<>(
                opened::incrementAndGet, ended -> {}, () -> renewed.complete(null), refusing(refusals));
        assertThat(opening.begin()
                        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join())
                .isEqualTo(1);
        refusals.set(1);

        opening.renew(() -> true);

        Awaitility.await().atMost(LIMIT).until(renewed::isDone);
        assertThat(refusals).hasValue(0);
        assertThat(opening.there()).isEqualTo(2);
        opening.close(LIMIT);
    }

    @Test
    void givenNoThreadIsToBeHad_whenClosed_thenWhatIsOpenIsEnded() {
        AtomicInteger refusals = new AtomicInteger();
        CompletableFuture<String> ended = new CompletableFuture<>();
        LazyConnection<String> opening =
                new LazyConnection<>(() -> "open", ended::complete, () -> {}, refusing(refusals));
        assertThat(opening.begin()
                        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join())
                .isEqualTo("open");
        refusals.set(1);

        opening.close(LIMIT);

        assertThat(ended).isCompletedWithValue("open");
    }

    /** Who waited for a connection was told only when the server had answered, or the driver had given up. */
    @Test
    void givenItIsBeingOpened_whenClosed_thenWhoWaitsIsToldAtOnceAndItIsEndedOnceItIsThere() {
        CompletableFuture<Void> slow = new CompletableFuture<>();
        CompletableFuture<String> ended = new CompletableFuture<>();
        LazyConnection<String> opening = new LazyConnection<>(
                () -> {
                    slow.join();
                    return "late";
                },
                ended::complete,
                () -> {},
                LazyConnection::apart);
        CompletableFuture<String> waiting = opening.begin();

        opening.close(LIMIT);

        assertThat(waiting).isCancelled();
        assertThat(opening.begin()).isCancelled();
        slow.complete(null);
        assertThat(ended).succeedsWithin(LIMIT).isEqualTo("late");
    }

    /** The second reason was taken for the first one again, which was not true any more. */
    @Test
    void givenItIsBeingReplaced_whenItIsNeededForAnotherReason_thenItIsReplacedAgain() {
        AtomicInteger opened = new AtomicInteger();
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> slow = new CompletableFuture<>();
        LazyConnection<Integer> opening = new LazyConnection<>(
                () -> {
                    if (opened.get() == 1) {
                        begun.complete(null);
                        slow.join();
                    }
                    return opened.incrementAndGet();
                },
                ended -> {},
                () -> {},
                LazyConnection::apart);
        assertThat(opening.begin()
                        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                        .join())
                .isEqualTo(1);
        opening.renew(() -> Objects.equals(opening.there(), 1));
        begun.join();

        opening.renew(() -> Objects.equals(opening.there(), 2));
        slow.complete(null);

        Awaitility.await().atMost(LIMIT).until(() -> Objects.equals(opening.there(), 3));
        opening.close(LIMIT);
    }

    private static Executor refusing(AtomicInteger refusals) {
        return task -> {
            if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new OutOfMemoryError("unable to create native thread (planted)");
            }
            LazyConnection.apart(task);
        };
    }
}

package dev.latchkey.sticky;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How much of what is idle is released when a factory is closed, by a clock that the test sets. */
class IdleReleasesTest {

    private static final int KEPT = 20;
    private static final int TRIED_FIRST = 4;
    private static final Duration TTL = Duration.ofMinutes(20);
    private static final Duration LONGER_THAN_ONE_MAY_WAIT = Duration.ofSeconds(11);

    private final StoreBetween between = new StoreBetween();
    private final FactoryThreads threads = new FactoryThreads();
    private final StickyLines lines = new StickyLines();
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();

    @AfterEach
    void close() {
        threads.close();
    }

    /** Many take longer than a silent server may hold up the end, and then one failure left all the rest. */
    @Test
    void givenItHasTakenLong_whenOneReleaseFailsAmongThoseThatAreAnswered_thenTheRestIsReleased() {
        keep(KEPT);
        between.onDeleteAsync = Optional.of(() -> {
            boolean isFirst = asked.incrementAndGet() == 1;
            clock.addAndGet(isFirst ? LONGER_THAN_ONE_MAY_WAIT.toNanos() : 0);
            return asked.get() == TRIED_FIRST + 1 ? failed() : CompletableFuture.completedFuture(true);
        });

        release();

        assertThat(asked).hasValue(KEPT);
    }

    @Test
    void givenItHasTakenLong_whenNothingIsAnswered_thenTheRestIsLeft() {
        keep(KEPT);
        between.onDeleteAsync = Optional.of(() -> {
            clock.addAndGet(LONGER_THAN_ONE_MAY_WAIT.toNanos());
            asked.incrementAndGet();
            return failed();
        });

        release();

        assertThat(asked).hasValueLessThan(KEPT);
    }

    /** As of a cluster of which one master is silent: what the others answer does not make that one's silence shorter. */
    @Test
    void givenItHasTakenLong_whenOneOfFourIsAnswered_thenTheRestIsLeft() {
        keep(KEPT);
        between.onDeleteAsync = Optional.of(() -> {
            clock.addAndGet(LONGER_THAN_ONE_MAY_WAIT.toNanos());
            return asked.incrementAndGet() % TRIED_FIRST == 0 ? CompletableFuture.completedFuture(true) : failed();
        });

        release();

        assertThat(asked).hasValueLessThan(KEPT);
    }

    /** The other masters of that cluster answer: what is kept there is not released for so long that the end takes minutes. */
    @Test
    void givenOneOfEachHundredIsNotAnswered_thenTheEndTakesNoWaitMoreThanTheLimit() {
        keep(5_000);
        between.onDeleteAsync = Optional.of(() -> {
            boolean isAnswered = asked.incrementAndGet() % 104 != 0;
            clock.addAndGet(isAnswered ? 0 : Duration.ofSeconds(3).toNanos());
            return isAnswered ? CompletableFuture.completedFuture(true) : failed();
        });

        release();

        assertThat(Duration.ofNanos(clock.get())).isLessThan(Duration.ofSeconds(10 + 3));
    }

    @Test
    void givenReleasesDoNotComeToAnEnd_thenTheEndOfTheFactoryDoes() {
        keep(KEPT);
        between.onDeleteAsync = Optional.of(() -> {
            clock.addAndGet(LONGER_THAN_ONE_MAY_WAIT.toNanos());
            asked.incrementAndGet();
            return new CompletableFuture<>();
        });

        release(Duration.ofMillis(1));

        assertThat(asked).hasValueLessThan(KEPT);
    }

    /** As of a driver whose classes cannot be loaded any more, because the application is being stopped. */
    @Test
    void givenThreadsWaitForReleases_whenOneEndsWithAnError_thenTheRestIsReleased() {
        between.onDeleteAsync = Optional.empty();
        keep(KEPT);
        between.onDelete = () -> {
            if (asked.incrementAndGet() == 1) {
                throw new NoClassDefFoundError("of a driver");
            }
        };

        release();

        assertThat(asked).hasValue(KEPT);
    }

    /** As on ZooKeeper, where nothing else would end them as long as the store is open. */
    @Test
    void givenHoldsLastAsLongAsASession_whenOneIsNotAnsweredForLong_thenThreadsReleaseTheRest() {
        between.onDeleteAsync = Optional.empty();
        between.onSave = response -> response instanceof Response.Granted granted
                ? new Response.Granted(granted.mode(), granted.fencingToken(), Lease.endless())
                : response;
        keep(KEPT);
        between.onDelete = () -> {
            if (asked.incrementAndGet() == 1) {
                clock.addAndGet(LONGER_THAN_ONE_MAY_WAIT.toNanos());
                throw StoreBetween.noAnswer();
            }
        };

        release();

        await().atMost(LIMIT).untilAsserted(() -> assertThat(asked).hasValue(KEPT));
    }

    private void release() {
        release(Duration.ofSeconds(10));
    }

    private void release(Duration limit) {
        lines.close();
        new IdleReleases(new LineReleases(between, threads), clock::get, limit).release(lines);
    }

    private void keep(int locks) {
        LineReleases releases = new LineReleases(between, threads);
        LineCalls calls = new LineCalls(between, lines, releases, new RecallListener(releases, threads));
        for (int i = 0; i < locks; i++) {
            Key key = Key.of("kept " + i);
            assertThat(calls.acquire(
                            new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE, LeaseChange.EXTEND, "", TTL)))
                    .isInstanceOf(Response.Granted.class);
            assertThat(calls.release(key)).isTrue();
        }
    }

    private static CompletionStage<Boolean> failed() {
        return CompletableFuture.failedFuture(StoreBetween.noAnswer());
    }
}

package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LocalWaitQueue.LocalWaiter;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LocalWaitQueueTest {

    private static final long NO_PAUSE = 0;
    private static final long HOURS = TimeUnit.HOURS.toNanos(2);
    private static final Deadline FAR = Deadline.in(Duration.ofHours(1));

    private static final Request REQUEST =
            new Request(Key.of("x"), LockMode.EXCLUSIVE, Duration.ofSeconds(30), RetryIntent.AGAIN);
    private static final Response.Granted GRANTED =
            new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(7), Lease.timed(0, Duration.ofSeconds(30)));

    private final LocalWaitQueue waitQueue = new LocalWaitQueue();

    @Test
    void givenTheHead_whenItHasPaused_thenItIsItsTurn() throws Exception {
        try (LocalWaiter head = join()) {
            assertThat(head.awaitTurn(NO_PAUSE, FAR)).isTrue();
        }
    }

    @Test
    void givenAPausingHead_whenTheResourceIsReleasedHere_thenItIsItsTurnAtOnce() throws Exception {
        try (LocalWaiter head = join()) {
            Waiter waiter = new Waiter(head);

            waitQueue.released("x");

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenAReleaseBeforeThePause_whenTheHeadPauses_thenItIsItsTurnAtOnce() throws Exception {
        try (LocalWaiter head = join()) {
            waitQueue.released("x");

            assertThat(head.awaitTurn(HOURS, FAR)).isTrue();
        }
    }

    @Test
    void givenOneBehindTheHead_whenTheResourceIsReleased_thenItIsNotItsTurn() throws Exception {
        try (LocalWaiter head = join();
                LocalWaiter second = join()) {
            waitQueue.released("x");

            assertThat(second.awaitTurn(NO_PAUSE, Deadline.in(Duration.ofMillis(20))))
                    .isFalse();
            assertThat(head.awaitTurn(HOURS, FAR)).isTrue();
        }
    }

    @Test
    void givenALine_whenTheHeadLeavesWithASharedGrant_thenTheNextTriesAtOnce() throws Exception {
        LocalWaiter head = join();
        try (LocalWaiter second = join()) {
            Waiter waiter = new Waiter(second);

            head.granted(LockMode.SHARED);
            head.close();

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenALine_whenTheHeadLeavesWithAnExclusiveGrant_thenTheNextPausesFirst() throws Exception {
        LocalWaiter head = join();
        try (LocalWaiter second = join()) {
            head.granted(LockMode.EXCLUSIVE);
            head.close();

            assertThat(second.awaitTurn(HOURS, Deadline.in(Duration.ofMillis(20))))
                    .isFalse();
            assertThat(second.awaitTurn(NO_PAUSE, FAR)).isTrue();
        }
    }

    @Test
    void givenAWaiter_whenWithdrawn_thenItsWaitEnds() throws Exception {
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        try (LocalWaiter head = waitQueue.join(REQUEST, withdrawn)) {
            Waiter waiter = new Waiter(head);

            withdrawn.complete(null);

            assertThat(waiter.result()).isFalse();
        }
    }

    @Test
    void givenAWaiter_whenInterrupted_thenItSaysSo() throws Exception {
        try (LocalWaiter head = join()) {
            Waiter waiter = new Waiter(head);

            waiter.thread.interrupt();

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(waiter::result)
                    .withCauseInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void givenAPausingHead_whenItIsPassedAHold_thenItsWaitEndsWithThat() throws Exception {
        try (LocalWaiter head = join()) {
            Waiter waiter = new Waiter(head);

            assertThat(waitQueue.choose("x")).containsSame(head);
            head.handOff(GRANTED);

            assertThat(waiter.result()).isTrue();
            assertThat(head.passed()).contains(GRANTED);
        }
    }

    @Test
    void givenAChosenHead_whenItIsInterrupted_thenItTakesWhatItIsPassedAndKeepsTheFlag() throws Exception {
        try (LocalWaiter head = join()) {
            AtomicBoolean kept = new AtomicBoolean();
            Waiter waiter =
                    new Waiter(head, () -> kept.set(Thread.currentThread().isInterrupted()));
            assertThat(waitQueue.choose("x")).containsSame(head);

            waiter.thread.interrupt();
            await().atMost(LIMIT).until(() -> waiter.thread.getState() == Thread.State.WAITING);
            head.handOff(GRANTED);

            assertThat(waiter.result()).isTrue();
            assertThat(kept).isTrue();
        }
    }

    @Test
    void givenAChosenHead_whenItIsWithdrawnAndNothingIsPassed_thenItsWaitEnds() throws Exception {
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        try (LocalWaiter head = waitQueue.join(REQUEST, withdrawn)) {
            Waiter waiter = new Waiter(head);
            assertThat(waitQueue.choose("x")).containsSame(head);

            withdrawn.complete(null);
            await().atMost(LIMIT).until(() -> waiter.thread.getState() == Thread.State.WAITING);
            head.passNothing();

            assertThat(waiter.result()).isFalse();
            assertThat(head.isAnswered()).isFalse();
            assertThat(head.passed()).isEmpty();
        }
    }

    @Test
    void givenAChosenHead_whenTheStoreDoesNotAnswer_thenItIsInDoubt() throws Exception {
        try (LocalWaiter head = join()) {
            Waiter waiter = new Waiter(head);
            assertThat(waitQueue.choose("x")).containsSame(head);

            head.leaveInDoubt();

            assertThat(waiter.result()).isTrue();
            assertThat(head.isAnswered()).isTrue();
            assertThat(head.passed()).isEmpty();
        }
    }

    @Test
    void givenAHeadThatAsksForItself_whenAHoldIsToBePassed_thenItIsNotChosen() throws Exception {
        try (LocalWaiter head = join()) {
            assertThat(head.awaitTurn(NO_PAUSE, FAR)).isTrue();

            assertThat(waitQueue.choose("x")).isEmpty();
        }
    }

    @Test
    void givenAHeadThatWaitsToShare_whenAHoldIsToBePassed_thenItIsNotChosen() throws Exception {
        Request shared = new Request(Key.of("x"), LockMode.SHARED, Duration.ofSeconds(30), RetryIntent.AGAIN);
        try (LocalWaiter head = waitQueue.join(shared, new CompletableFuture<>())) {
            Waiter waiter = new Waiter(head);

            assertThat(waitQueue.choose("x")).isEmpty();
            waitQueue.released("x");
            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenAPausingHead_whenOthersMayAskFirst_thenItsTurnComesAfterThem() throws Exception {
        try (LocalWaiter head = join()) {
            Waiter waiter = new Waiter(head);

            waitQueue.releasedForOthers("x");

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenEverybodyHasLeft_thenNothingIsKept() {
        LocalWaiter first = join();
        LocalWaiter second = join();
        assertThat(waitQueue.waiters()).isEqualTo(2);

        second.close();
        first.close();

        assertThat(waitQueue.waiters()).isZero();
        assertThat(waitQueue.hasLine("x")).isFalse();
    }

    private LocalWaiter join() {
        return waitQueue.join(REQUEST, new CompletableFuture<>());
    }

    /** A thread that waits for its turn with a pause nobody outlives. */
    private static final class Waiter {

        private final FutureTask<Boolean> mutex;
        private final Thread thread;

        Waiter(LocalWaiter waiter) {
            this(waiter, () -> {});
        }

        Waiter(LocalWaiter waiter, Runnable afterwards) {
            mutex = new FutureTask<>(() -> {
                boolean isTurn = waiter.awaitTurn(HOURS, FAR);
                afterwards.run();
                return isTurn;
            });
            thread = new Thread(mutex, "waiter");
            thread.start();
            await().atMost(LIMIT).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        }

        boolean result() throws Exception {
            return mutex.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }
}

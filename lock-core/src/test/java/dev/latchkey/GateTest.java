package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class GateTest {

    private static final long NO_PAUSE = 0;
    private static final long HOURS = TimeUnit.HOURS.toNanos(2);
    private static final Deadline FAR = Deadline.in(Duration.ofHours(1));

    private static final Request REQUEST =
            new Request(Key.of("x"), LockMode.EXCLUSIVE, Duration.ofSeconds(30), Patience.AGAIN);
    private static final Attempt.Granted GRANTED =
            new Attempt.Granted(LockMode.EXCLUSIVE, OptionalLong.of(7), Lease.timed(0, Duration.ofSeconds(30)));

    private final Gate gate = new Gate();

    @Test
    void givenTheHead_whenItHasPaused_thenItIsItsTurn() throws Exception {
        try (Place head = join()) {
            assertThat(head.awaitTurn(NO_PAUSE, FAR)).isTrue();
        }
    }

    @Test
    void givenAPausingHead_whenTheResourceIsReleasedHere_thenItIsItsTurnAtOnce() throws Exception {
        try (Place head = join()) {
            Waiter waiter = new Waiter(head);

            gate.released("x");

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenAReleaseBeforeThePause_whenTheHeadPauses_thenItIsItsTurnAtOnce() throws Exception {
        try (Place head = join()) {
            gate.released("x");

            assertThat(head.awaitTurn(HOURS, FAR)).isTrue();
        }
    }

    @Test
    void givenOneBehindTheHead_whenTheResourceIsReleased_thenItIsNotItsTurn() throws Exception {
        try (Place head = join();
                Place second = join()) {
            gate.released("x");

            assertThat(second.awaitTurn(NO_PAUSE, Deadline.in(Duration.ofMillis(20))))
                    .isFalse();
            assertThat(head.awaitTurn(HOURS, FAR)).isTrue();
        }
    }

    @Test
    void givenALine_whenTheHeadLeavesWithASharedGrant_thenTheNextTriesAtOnce() throws Exception {
        Place head = join();
        try (Place second = join()) {
            Waiter waiter = new Waiter(second);

            head.granted(LockMode.SHARED);
            head.close();

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenALine_whenTheHeadLeavesWithAnExclusiveGrant_thenTheNextPausesFirst() throws Exception {
        Place head = join();
        try (Place second = join()) {
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
        try (Place head = gate.join(REQUEST, withdrawn)) {
            Waiter waiter = new Waiter(head);

            withdrawn.complete(null);

            assertThat(waiter.result()).isFalse();
        }
    }

    @Test
    void givenAWaiter_whenInterrupted_thenItSaysSo() throws Exception {
        try (Place head = join()) {
            Waiter waiter = new Waiter(head);

            waiter.thread.interrupt();

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(waiter::result)
                    .withCauseInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void givenAPausingHead_whenItIsPassedAHold_thenItsWaitEndsWithThat() throws Exception {
        try (Place head = join()) {
            Waiter waiter = new Waiter(head);

            assertThat(gate.choose("x")).containsSame(head);
            head.pass(GRANTED);

            assertThat(waiter.result()).isTrue();
            assertThat(head.passed()).contains(GRANTED);
        }
    }

    @Test
    void givenAChosenHead_whenItIsInterrupted_thenItTakesWhatItIsPassedAndKeepsTheFlag() throws Exception {
        try (Place head = join()) {
            AtomicBoolean kept = new AtomicBoolean();
            Waiter waiter =
                    new Waiter(head, () -> kept.set(Thread.currentThread().isInterrupted()));
            assertThat(gate.choose("x")).containsSame(head);

            waiter.thread.interrupt();
            await().until(() -> waiter.thread.getState() == Thread.State.WAITING);
            head.pass(GRANTED);

            assertThat(waiter.result()).isTrue();
            assertThat(kept).isTrue();
        }
    }

    @Test
    void givenAChosenHead_whenItIsWithdrawnAndNothingIsPassed_thenItsWaitEnds() throws Exception {
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        try (Place head = gate.join(REQUEST, withdrawn)) {
            Waiter waiter = new Waiter(head);
            assertThat(gate.choose("x")).containsSame(head);

            withdrawn.complete(null);
            await().until(() -> waiter.thread.getState() == Thread.State.WAITING);
            head.passNothing();

            assertThat(waiter.result()).isFalse();
            assertThat(head.passed()).isEmpty();
        }
    }

    @Test
    void givenAChosenHead_whenTheStoreDoesNotAnswer_thenItIsInDoubt() throws Exception {
        try (Place head = join()) {
            Waiter waiter = new Waiter(head);
            assertThat(gate.choose("x")).containsSame(head);

            head.leaveInDoubt();

            assertThat(waiter.result()).isTrue();
            assertThatExceptionOfType(Place.InDoubtException.class).isThrownBy(head::passed);
        }
    }

    @Test
    void givenAHeadThatAsksForItself_whenAHoldIsToBePassed_thenItIsNotChosen() throws Exception {
        try (Place head = join()) {
            assertThat(head.awaitTurn(NO_PAUSE, FAR)).isTrue();

            assertThat(gate.choose("x")).isEmpty();
        }
    }

    @Test
    void givenAHeadThatWaitsToShare_whenAHoldIsToBePassed_thenItIsNotChosen() throws Exception {
        Request shared = new Request(Key.of("x"), LockMode.SHARED, Duration.ofSeconds(30), Patience.AGAIN);
        try (Place head = gate.join(shared, new CompletableFuture<>())) {
            Waiter waiter = new Waiter(head);

            assertThat(gate.choose("x")).isEmpty();
            gate.released("x");
            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenAPausingHead_whenOthersMayAskFirst_thenItsTurnComesAfterThem() throws Exception {
        try (Place head = join()) {
            Waiter waiter = new Waiter(head);

            gate.releasedForOthers("x");

            assertThat(waiter.result()).isTrue();
        }
    }

    @Test
    void givenEverybodyHasLeft_thenNothingIsKept() {
        Place first = join();
        Place second = join();
        assertThat(gate.waiters()).isEqualTo(2);

        second.close();
        first.close();

        assertThat(gate.waiters()).isZero();
        assertThat(gate.hasLine("x")).isFalse();
    }

    private Place join() {
        return gate.join(REQUEST, new CompletableFuture<>());
    }

    /** A thread that waits for its turn with a pause nobody outlives. */
    private static final class Waiter {

        private final FutureTask<Boolean> turn;
        private final Thread thread;

        Waiter(Place place) {
            this(place, () -> {});
        }

        Waiter(Place place, Runnable afterwards) {
            turn = new FutureTask<>(() -> {
                boolean isTurn = place.awaitTurn(HOURS, FAR);
                afterwards.run();
                return isTurn;
            });
            thread = new Thread(turn, "waiter");
            thread.start();
            await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        }

        boolean result() throws Exception {
            return turn.get(30, TimeUnit.SECONDS);
        }
    }
}

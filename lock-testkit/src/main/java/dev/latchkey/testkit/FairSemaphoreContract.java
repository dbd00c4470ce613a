package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** First come, first served, whatever each asks for: for a store whose permits have a queue. */
public interface FairSemaphoreContract extends SemaphoreContract {

    @Test
    default void givenSeveralWaitForDifferentNumbers_whenPermitsComeFree_thenTheyGetThemInTheOrderTheyCame(
            Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 4);
        Permit all = semaphore.acquire(4);
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        List<Integer> counts = List.of(3, 2, 4, 1, 4, 3);
        for (int i = 0; i < counts.size(); i++) {
            int number = i;
            waiting.add(fixture.startWaiting(() -> {
                try (Permit permit = semaphore.acquire(counts.get(number))) {
                    order.add(number);
                    return permit.isHeld();
                }
            }));
            // In the queue before the next one comes.
            assertThat(semaphore.tryAcquire()).isEmpty();
        }

        assertThat(all.release()).isTrue();

        for (BackgroundCall<Boolean> call : waiting) {
            assertThat(call.result()).isTrue();
        }
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5);
    }

    @Test
    default void givenOneWaitsForMany_whenOthersWantFew_thenTheyDoNotOvertake(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 5);
        Permit three = semaphore.acquire(3);
        BackgroundCall<Permit> big = fixture.startWaiting(() -> semaphore.acquire(5));

        assertThat(semaphore.tryAcquire())
                .as("two are free, and somebody waits")
                .isEmpty();
        BackgroundCall<Permit> small = fixture.startWaiting(semaphore::acquire);
        assertThat(small.isDone()).isFalse();
        assertThat(three.release()).isTrue();

        Permit five = big.result();
        assertThat(small.isDone()).isFalse();
        assertThat(five.release()).isTrue();
        assertThat(small.result().release()).isTrue();
    }

    @Test
    default void givenOneWaitsForMany_whenItGivesUp_thenThoseBehindGetWhatIsFree(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit one = semaphore.acquire(1);
        BackgroundCall<Permit> big = fixture.startWaiting(() -> semaphore.acquire(3));
        BackgroundCall<Permit> small = fixture.startWaiting(() -> semaphore.acquire(2));

        big.interrupt();

        assertThat(small.result().release()).isTrue();
        assertThat(one.release()).isTrue();
    }

    @Test
    default void givenOneWaitsForMany_whenItsTimeIsOver_thenThoseBehindGetWhatIsFree(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit one = semaphore.acquire(1);
        BackgroundCall<Boolean> big = fixture.startWaiting(
                () -> semaphore.tryAcquire(3, Duration.ofMillis(300)).isEmpty());
        BackgroundCall<Permit> small = fixture.startWaiting(() -> semaphore.acquire(2));

        assertThat(small.result().release()).isTrue();
        assertThat(big.result()).isTrue();
        assertThat(one.release()).isTrue();
    }

    @Test
    default void givenSeveralWait_whenEnoughComesFree_thenAllAreServedAtOnce(Fixture fixture) throws Exception {
        Semaphore semaphore = Semaphores.of(fixture, 3);
        Permit all = semaphore.acquire(3);
        List<BackgroundCall<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(fixture.startWaiting(semaphore::acquire));
        }

        assertThat(all.release()).isTrue();

        for (BackgroundCall<Permit> call : waiting) {
            assertThat(call.result().isHeld()).isTrue();
        }
        assertThat(semaphore.available()).isZero();
        for (BackgroundCall<Permit> call : waiting) {
            assertThat(call.result().release()).isTrue();
        }
    }

    @Test
    default void givenOneWaits_whenALeaseEnds_thenItIsServedWithoutARelease(Fixture fixture) throws Exception {
        Semaphore brief = fixture.locks()
                .semaphore(fixture.resource(), 2)
                .ttl(workingTtl())
                .create();
        Permit lost = brief.acquire(1);
        Semaphore semaphore = Semaphores.of(fixture, 2);
        Permit kept = semaphore.acquire(1);
        BackgroundCall<Permit> first = fixture.startWaiting(semaphore::acquire);

        assertThat(first.result().release()).isTrue();

        assertThat(lost.remainingLifetime()).isZero();
        assertThat(kept.release()).isTrue();
    }
}

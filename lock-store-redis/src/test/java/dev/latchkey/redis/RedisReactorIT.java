package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A pipeline of Reactor works under a lock, however it ends: the example of docs/async.md. */
class RedisReactorIT extends WithAStore {

    private static final String RESOURCE = "report";

    private <T> Mono<T> locked(String resource, Mono<T> work) {
        return Mono.defer(() -> {
            Lock lock = locks.lock(resource).ttl(LONG_TTL).autoRefresh().create();
            return Mono.usingWhen(
                            Mono.fromFuture(() -> lock.acquireAsync(Duration.ofSeconds(10))),
                            held -> work,
                            held -> Mono.fromFuture(held::closeAsync))
                    .doOnDiscard(Lock.class, granted -> {
                        var unused = granted.closeAsync();
                    });
        });
    }

    private boolean isFree() throws InterruptedException {
        try (Lock rival = locks.createLock(RESOURCE)) {
            return rival.tryAcquire(TimeLimits.LIMIT);
        }
    }

    @Test
    void givenWork_whenItEndsOrFails_thenHeldMeanwhileAndFreeAfterwards() throws Exception {
        Mono<Boolean> tries = Mono.fromCallable(() -> locks.createLock(RESOURCE).tryAcquire());

        assertThat(locked(RESOURCE, tries).block(TimeLimits.LIMIT)).isFalse();
        assertThatThrownBy(() -> locked(RESOURCE, Mono.error(new IllegalStateException("planned")))
                        .block(TimeLimits.LIMIT))
                .hasMessage("planned");

        assertThat(isFree()).isTrue();
    }

    @Test
    void givenAWaitingSubscriber_whenItCancels_thenItLeavesTheQueue() throws Exception {
        Lock holder = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        Disposable waiting = locked(RESOURCE, Mono.never()).subscribe();
        Awaitility.await().until(() -> keys.listening().size() == 1);

        waiting.dispose();

        Awaitility.await().until(() -> keys.waiting().isEmpty());
        assertThat(holder.release()).isTrue();
        assertThat(isFree()).isTrue();
    }

    @Test
    void givenItIsLostMeanwhile_whenTheWorkEnds_thenTheSubscriberIsTold() {
        Mono<Boolean> loses = Mono.fromCallable(() -> locks.forceRelease(
                RESOURCE, locks.holders(RESOURCE).get(0).fencingToken().orElseThrow()));

        assertThatThrownBy(() -> locked(RESOURCE, loses).block(TimeLimits.LIMIT))
                .hasRootCauseInstanceOf(LockLostException.class);
    }

    @Test
    @Tag("slow")
    void givenASubscriber_whenItCancelsAtAnyMoment_thenNothingIsHeld() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        Mono<Void> work = Mono.fromRunnable(inside::incrementAndGet).then(Mono.never());
        int races = 2_000;
        for (int i = 0; i < races; i++) {
            Lock holder = locks.createLock(RESOURCE, LONG_TTL);
            // Free as soon as what the race before has left is given back.
            assertThat(holder.tryAcquire(TimeLimits.LIMIT)).as("race " + i).isTrue();
            Disposable subscriber = locked(RESOURCE, work).subscribe();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(400_000));
            var releasing = holder.releaseAsync();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(400_000));

            subscriber.dispose();

            assertThat(releasing.join()).isTrue();
        }

        assertThat(isFree()).isTrue();
        assertThat(inside).as("of the races").hasValueBetween(1, races - 1);
    }
}

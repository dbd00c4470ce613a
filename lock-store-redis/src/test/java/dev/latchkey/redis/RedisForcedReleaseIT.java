package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The holder hears at once that an operator of another process has ended its hold. */
class RedisForcedReleaseIT extends WithAStore {

    private static final int HOLDS = 20;
    private static final Duration SOON = TimeLimits.scaled(Duration.ofSeconds(2));

    @Test
    void givenHeldForAWhile_whenForcedElsewhere_thenHeardWithinASecond() throws Exception {
        List<CompletableFuture<LossReason>> heard = new ArrayList<>();
        List<Lock> held =
                IntStream.range(0, HOLDS).mapToObj(i -> held(i, heard)).toList();
        Queue<Integer> unforced = new ArrayDeque<>(List.of(7, 9, 10));
        keys.awaitSubscribed();
        keys.resetCommands();
        try (RedisStore other = open(PatientDsn.redis(server.dsn()))) {
            LockFactory operator = new LockFactory(other);
            assertThat(operator.holders("held 7")).hasSize(1);
            Duration took = Rounds.below(SOON, () -> {
                int number = unforced.remove();
                return timeToHear(operator, held.get(number), heard.get(number));
            });
            assertThat(took).isLessThan(SOON);
        }

        assertThat(held.get(7).isAcquired()).isFalse();
        assertThat(held.get(8).isAcquired()).isTrue();
        assertThat(heard.get(8)).isNotDone();
        assertThat(keys.commands()).doesNotContainKey("subscribe").containsEntry("publish", 3L - unforced.size());
    }

    private static Duration timeToHear(LockFactory operator, Lock lock, CompletableFuture<LossReason> heard)
            throws Exception {
        long start = System.nanoTime();
        long token = lock.fencingToken().orElseThrow();
        assertThat(operator.forceRelease(lock.key().resource(), token)).isTrue();

        assertThat(heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** A name may contain what separates the parts of a message. */
    @Test
    void givenAnOddName_whenForced_thenHeard() throws Exception {
        String odd = "0 ! {1}: \u00fc\n";
        CompletableFuture<LossReason> heard = new CompletableFuture<>();
        Lock lock = locks.lock(odd).ttl(LONG_TTL).onLost(heard::complete).create();
        assertThat(lock.tryAcquire()).isTrue();
        keys.awaitSubscribed();

        assertThat(locks.forceRelease(odd, lock.fencingToken().orElseThrow())).isTrue();

        assertThat(heard.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
    }

    /** Another process has the key as well, and nobody sends it a message. */
    @Test
    void givenTheNextWasGrantedIt_whenTheKeyIsRefreshedElsewhere_thenTheReasonIsForced() throws Exception {
        Lock holder = locks.createLock("passed on", LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        Key copy = holder.key();
        CompletableFuture<Lock> next = Background.acquire(locks.createLock("passed on", LONG_TTL));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.waiting().size() == 1);

        assertThat(locks.forceRelease("passed on", holder.fencingToken().orElseThrow()))
                .isTrue();

        assertThat(next.join().isAcquired()).isTrue();
        try (RedisStore other = open(PatientDsn.redis(server.dsn()))) {
            Lock twin = new LockFactory(other).createLock(copy, LONG_TTL);
            assertThatThrownBy(twin::refresh)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            lost -> assertThat(lost.reason()).isEqualTo(LossReason.FORCED));
        }
    }

    /** It waited for its second hold, so that the state still named the first one. */
    @Test
    void givenForcedAndGrantedAgain_whenReleasedElsewhere_thenTheReasonIsNotForced() {
        Lock holder = locks.createLock("again", LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        CompletableFuture<Lock> next = Background.acquire(locks.createLock("again", LONG_TTL));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.waiting().size() == 1);
        assertThat(locks.forceRelease("again", holder.fencingToken().orElseThrow()))
                .isTrue();
        assertThat(holder.isAcquired()).isFalse();
        Lock between = next.join();
        CompletableFuture<Lock> again = Background.acquire(holder);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.waiting().size() == 1);
        assertThat(between.release()).isTrue();
        assertThat(again.join().isAcquired()).isTrue();

        assertThat(store.delete(holder.key())).isTrue();

        assertThatThrownBy(holder::refresh)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.RELEASED_ELSEWHERE));
    }

    private Lock held(int number, List<CompletableFuture<LossReason>> heard) {
        CompletableFuture<LossReason> reason = new CompletableFuture<>();
        heard.add(reason);
        Lock lock = locks.lock("held " + number)
                .ttl(LONG_TTL)
                .onLost(reason::complete)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }
}

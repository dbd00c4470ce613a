package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What permits cost the server, and what is left of them there. */
class RedisSemaphoreIT extends WithAStore {

    private static final int CYCLES = 100;

    private Semaphore semaphore(int permits) {
        return locks.semaphore("exports", permits).ttl(LONG_TTL).create();
    }

    private static Permit acquired(Semaphore semaphore, int count) {
        return semaphore.tryAcquire(count).orElseThrow();
    }

    private static long total(Map<String, Long> executed) {
        return executed.values().stream().mapToLong(Long::longValue).sum();
    }

    @Test
    void givenNobodyElse_whenAcquiredAndReleased_thenOneCommandEachAndNothingIsLeft() {
        Semaphore semaphore = semaphore(5);
        assertThat(acquired(semaphore, 2).release()).isTrue();
        keys.resetCommands();

        for (int i = 0; i < CYCLES; i++) {
            assertThat(acquired(semaphore, 2).release()).isTrue();
        }

        Map<String, Long> executed = keys.commands();
        assertThat(executed.get("evalsha")).isEqualTo(2 * CYCLES);
        assertThat(total(executed)).as("%s", executed).isLessThanOrEqualTo(7 * CYCLES);
        assertThat(semaphoreKeys()).isEmpty();
    }

    @Test
    void givenOthersHold_whenAcquiredReadyToWait_thenOneCommandEach() throws Exception {
        Semaphore semaphore = semaphore(5);
        Permit other = acquired(semaphore, 1);
        assertThat(semaphore.acquire(2, TimeLimits.LIMIT).release()).isTrue();
        keys.resetCommands();

        for (int i = 0; i < CYCLES; i++) {
            assertThat(semaphore.acquire(2, TimeLimits.LIMIT).release()).isTrue();
        }

        Map<String, Long> executed = keys.commands();
        assertThat(executed.get("evalsha")).isEqualTo(2 * CYCLES);
        assertThat(total(executed)).as("%s", executed).isLessThanOrEqualTo(7 * CYCLES);
        assertThat(other.release()).isTrue();
    }

    @Test
    void givenFourThreads_whenEachAcquiresAndReleases_thenOneCommandEach() throws Exception {
        int threads = 4;
        // Else those who wait first would poll until the store has subscribed.
        Permit all = acquired(semaphore(2), 2);
        BackgroundCall<Permit> waiting = BackgroundCall.start(semaphore(2)::acquire);
        Awaitility.await().until(() -> keys.listening().size() == 1);
        assertThat(all.release()).isTrue();
        assertThat(waiting.result().release()).isTrue();
        run(threads, 5);
        keys.resetCommands();

        run(threads, CYCLES);

        assertThat(keys.commands().get("evalsha")).isLessThanOrEqualTo(2 * threads * CYCLES + 2 * threads);
        assertThat(semaphoreKeys()).isEmpty();
    }

    private void run(int threads, int cycles) throws Exception {
        List<BackgroundCall<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            calls.add(BackgroundCall.start(() -> {
                for (int cycle = 0; cycle < cycles; cycle++) {
                    semaphore(2).acquire(1, TimeLimits.LIMIT).close();
                }
                return cycles;
            }));
        }
        for (BackgroundCall<Integer> call : calls) {
            assertThat(call.result()).isEqualTo(cycles);
        }
    }

    /** The state was written again for each two of them, which kept the server busy for a second with 500 holders and waiters. */
    @Test
    void givenManyHoldAndManyWait_whenManyPermitsComeFree_thenTheStateIsWrittenAFewTimes() throws Exception {
        int many = 60;
        Semaphore semaphore = semaphore(2 * many);
        List<Permit> kept =
                Stream.generate(() -> acquired(semaphore, 1)).limit(many).toList();
        Permit half = acquired(semaphore, many);
        List<BackgroundCall<Permit>> waiting = Stream.generate(() -> BackgroundCall.start(semaphore::acquire))
                .limit(many)
                .toList();
        Awaitility.await().until(() -> keys.listening().size() == many);
        keys.resetCommands();

        assertThat(half.release()).isTrue();

        assertThat(keys.commands().get("set")).isLessThan(10);
        for (BackgroundCall<Permit> call : waiting) {
            assertThat(call.result().release()).isTrue();
        }
        assertThat(kept).allMatch(Permit::release);
        assertThat(semaphoreKeys()).isEmpty();
    }

    /** Those of Redisson stay for ever: redisson 6302. */
    @Test
    void givenHoldersAndWaiters_thenEachKeyHasATtl() throws Exception {
        Semaphore semaphore = semaphore(1);
        Permit permit = acquired(semaphore, 1);
        BackgroundCall<Permit> waiting = BackgroundCall.start(semaphore::acquire);
        Awaitility.await().until(() -> keys.all().stream().anyMatch(key -> key.endsWith(":s:h")));

        assertThat(keys.withoutTtl()).isEmpty();
        assertThat(semaphoreKeys()).hasSize(3);

        assertThat(permit.release()).isTrue();
        assertThat(keys.withoutTtl()).isEmpty();
        assertThat(waiting.result().release()).isTrue();
        Awaitility.await().until(() -> semaphoreKeys().isEmpty());
    }

    @Test
    void givenALeaseEnds_whenNobodyComes_thenItsKeysEndToo() {
        // An answer that comes later than that grants nothing.
        Duration ttl = TimeLimits.ttl(Duration.ofMillis(300));
        Semaphore brief = locks.semaphore("exports", 2).ttl(ttl).create();
        Permit unused = acquired(brief, 2);

        Awaitility.await().until(() -> brief.available() == 2);

        assertThat(keys.withoutTtl()).isEmpty();
        Awaitility.await().until(() -> semaphoreKeys().isEmpty());
    }

    @Test
    void givenTheServerHasNoMemoryLeft_whenTheLastPermitsAreReleased_thenTheyAreFree() {
        Semaphore semaphore = semaphore(3);
        Permit two = acquired(semaphore, 2);
        try {
            server.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
            server.call("CONFIG", "SET", "maxmemory", "1");

            assertThat(two.release()).isTrue();
        } finally {
            server.call("CONFIG", "SET", "maxmemory", "0");
        }

        assertThat(semaphoreKeys()).isEmpty();
        assertThat(acquired(semaphore, 3).release()).isTrue();
    }

    private List<String> semaphoreKeys() {
        return keys.all().stream().filter(key -> key.contains("}:s")).toList();
    }
}

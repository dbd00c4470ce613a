package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What it costs the server, counted there. */
class CostIT {

    private static final int CYCLES = 20;
    private static final int BATCHES = 10;
    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final int WINDOWS = 5;

    @ParameterizedTest
    @ValueSource(strings = {"text", "binary"})
    void givenOneHolder_whenItAcquiresAndReleases_thenTheServerExecutesThreeOperations(String protocol)
            throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.dsn() + "?protocol=" + protocol);
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("warm-up").acquire().release();
            List<Map<String, Long>> costs = new ArrayList<>();

            for (int batch = 0; batch < BATCHES; batch++) {
                Map<String, String> before = server.statistics();
                for (int i = 0; i < CYCLES; i++) {
                    assertThat(locks.createLock("counted").acquire().release()).isTrue();
                }
                costs.add(grown(before, server.statistics()));
            }

            // What is answered late is stored again, and now and then the clock is read: not in most batches.
            assertThat(costs)
                    .contains(Map.of("cmd_get", (long) CYCLES, "cmd_set", 2L * CYCLES, "cas_hits", (long) CYCLES));
        }
    }

    @Test
    void givenManyWaiters_whenNothingHappens_thenOneOfThemAsksAboutOnceASecond() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("held").acquire();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> locks.createLock("held").acquire());
            BackgroundCall<Lock> another =
                    BackgroundCall.start(() -> locks.createLock("held").acquire());
            waiting.awaitWaiting();
            another.awaitWaiting();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> asked(server) >= 12);

            // Where all stand still for a moment they ask less: not each time.
            boolean isAskedOften =
                    Stream.generate(() -> askedWhileIdle(server)).limit(WINDOWS).anyMatch(asked -> asked >= 6);
            assertThat(isAskedOften).isTrue();
            holder.release();
            Awaitility.await().until(() -> waiting.isDone() || another.isDone());
            boolean isAnotherFirst = another.isDone();
            (isAnotherFirst ? another : waiting).result().release();
            assertThat((isAnotherFirst ? waiting : another).result().isAcquired())
                    .isTrue();
        }
    }

    @Test
    void givenManyHolds_whenAllAreReleased_thenTheServerKeepsNothing() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            for (int i = 0; i < CYCLES; i++) {
                Lock lock = locks.createLock("resource " + i).acquireShared();
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.tryAcquireShared()).isTrue();
                assertThat(lock.release()).isTrue();
            }

            // What was stored as over goes when it is looked at, or by and by.
            for (int i = 0; i < CYCLES; i++) {
                assertThat(locks.createLock("resource " + i).isAcquired()).isFalse();
            }
            assertThat(server.call("get lock:resource_0#" + "0".repeat(64))).containsExactly("END");
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> server.statistics().get("curr_items"), "0"::equals);
        }
    }

    /** Counts for a while, in which there is to be no more than a few operations a second. */
    private static long askedWhileIdle(MemcachedServer server) {
        long start = System.nanoTime();
        long before = operations(server.statistics());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> System.nanoTime() - start >= IDLE.toNanos());
        long asked = operations(server.statistics()) - before;
        long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
        assertThat(asked).isLessThanOrEqualTo(4 * millis / 1_000);
        return asked;
    }

    private static long asked(MemcachedServer server) {
        return Long.parseLong(server.statistics().getOrDefault("cmd_get", "0"));
    }

    /** What the server has counted more often; {@code add} and {@code cas} are among what it calls set. */
    private static Map<String, Long> grown(Map<String, String> before, Map<String, String> after) {
        return after.keySet().stream()
                .filter(name -> name.matches("(cmd|cas|delete|incr|decr|touch)_.*"))
                .filter(name -> number(after, name) > number(before, name))
                .collect(Collectors.toMap(name -> name, name -> number(after, name) - number(before, name)));
    }

    /** All that the server counts of what is asked of it. */
    private static long operations(Map<String, String> statistics) {
        return Stream.of("cmd_get", "cmd_set", "cmd_touch", "cmd_meta", "delete_hits", "delete_misses", "incr_hits")
                .mapToLong(name -> number(statistics, name))
                .sum();
    }

    private static long number(Map<String, String> statistics, String name) {
        return Long.parseLong(statistics.getOrDefault(name, "0"));
    }
}

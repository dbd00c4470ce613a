package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a lock costs the server, counted by the server. */
class RedisCostIT extends WithAStore {

    private static final long CYCLES = 100L;

    @Test
    void givenNobodyElse_whenAcquiredAndReleased_thenTwoCommandsAndSixExecuted() throws Exception {
        Map<String, Long> executed = counted(lock -> lock.tryAcquire() && lock.release());

        assertThat(executed.get("evalsha")).isEqualTo(2 * CYCLES);
        assertThat(total(executed)).isLessThanOrEqualTo(6 * CYCLES);
    }

    @Test
    void givenNobodyElse_whenAcquiredReadyToWait_thenTheSame() throws Exception {
        Map<String, Long> executed = counted(lock -> acquired(lock) && lock.release());

        assertThat(executed.get("evalsha")).isEqualTo(2 * CYCLES);
        assertThat(total(executed)).isLessThanOrEqualTo(6 * CYCLES);
    }

    @Test
    void givenNobodyElse_whenSharedAndReleased_thenTwoCommandsAndEightExecuted() throws Exception {
        Map<String, Long> executed = counted(lock -> lock.tryAcquireShared() && lock.release());

        assertThat(executed.get("evalsha")).isEqualTo(2 * CYCLES);
        assertThat(total(executed)).isLessThanOrEqualTo(8 * CYCLES);
    }

    @Test
    void givenHeld_whenOthersTryAndAsk_thenNothingIsWritten() {
        Lock holder = locks.createLock("asked for", LONG_TTL);
        Lock other = locks.createLock("asked for", LONG_TTL);
        keys.subscribe(holder);
        assertThat(holder.tryAcquire()).isTrue();
        askAndTry(holder, other);
        server.call("CONFIG", "RESETSTAT");

        askAndTry(holder, other);

        assertThat(executed()).containsOnlyKeys("evalsha", "get", "time").containsEntry("evalsha", 3L);
    }

    private void askAndTry(Lock holder, Lock other) {
        assertThat(other.tryAcquire()).isFalse();
        assertThat(holder.isAcquired()).isTrue();
        assertThat(locks.holders("asked for")).hasSize(1);
    }

    /** Never by KEYS, which stops the server for all others. */
    @Test
    void givenTenThousandAreHeld_whenListed_thenOneScriptForEachAndSomeScans() {
        int held = 10_000;
        Lock first = locks.createLock("one of many 0", LONG_TTL);
        keys.subscribe(first);
        assertThat(first.tryAcquire()).isTrue();
        assertThat(store.saveAll(IntStream.range(1, held)
                        .mapToObj(i -> exclusive(Key.of("one of many " + i)))
                        .toList()))
                .isInstanceOf(BatchAttempt.Granted.class);
        server.call("CONFIG", "RESETSTAT");

        int listed = 0;
        Optional<String> after = Optional.empty();
        do {
            ResourcePage page = locks.list("one of many ", after, 1_000);
            listed += page.resources().size();
            after = page.next();
        } while (after.isPresent());

        assertThat(listed).isEqualTo(held);
        assertThat(executed()).doesNotContainKey("keys").containsEntry("evalsha", (long) held);
        assertThat(executed().get("scan")).isBetween(100L, 500L);
    }

    /** Once more if some were kept from the processor, so that the others did not contend. */
    @Test
    void givenEightThreads_whenEachAcquiresAndReleases_thenOneCommandAndFourExecuted() {
        long threads = 8;
        ExecutorService executor = Executors.newFixedThreadPool((int) threads);
        try {
            Awaitility.await()
                    .pollInterval(Duration.ZERO)
                    .pollDelay(Duration.ZERO)
                    .untilAsserted(() -> {
                        server.call("CONFIG", "RESETSTAT");

                        run(executor, threads, CYCLES);

                        Map<String, Long> executed = executed();
                        assertThat(executed.get("evalsha")).isLessThanOrEqualTo(threads * CYCLES + 5 * threads);
                        assertThat(total(executed))
                                .as("%s", executed)
                                .isLessThanOrEqualTo(4 * threads * CYCLES + 40 * threads);
                    });
        } finally {
            executor.shutdownNow();
        }
    }

    /** The release of each store puts its next waiter into the queue. */
    @Test
    void givenTwoStoresOfTwoThreads_whenEachAcquiresAndReleases_thenOneCommand() {
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try (LockFactory others = LockFactory.connect(PatientDsn.redis(server.dsn()))) {
            Awaitility.await()
                    .pollInterval(Duration.ZERO)
                    .pollDelay(Duration.ZERO)
                    .untilAsserted(() -> {
                        server.call("CONFIG", "RESETSTAT");

                        run(executor, 4, CYCLES, locks, others);

                        assertThat(executed().get("evalsha")).isLessThanOrEqualTo(4 * CYCLES * 5 / 4);
                    });
        } finally {
            executor.shutdownNow();
        }
    }

    /** Who was granted in turn expects others behind it, and reads from the reply who they are. */
    @Test
    void givenTheNextWaitsInTheSameStore_whenHandedOver_thenNothingIsPublished() throws Exception {
        Lock first = locks.createLock("passed on", LONG_TTL);
        keys.subscribe(first);
        assertThat(first.tryAcquire()).isTrue();
        ExecutorService executor = Executors.newCachedThreadPool();
        try {
            Lock second = locks.createLock("passed on", LONG_TTL);
            Future<Boolean> secondWaits = executor.submit(() -> acquired(second));
            Awaitility.await().until(() -> keys.listening().size() == 1);
            assertThat(first.release()).isTrue();
            assertThat(secondWaits.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            long start = System.nanoTime();
            Lock third = locks.createLock("passed on", LONG_TTL);
            Future<Boolean> thirdWaits = executor.submit(() -> acquired(third));
            Awaitility.await().until(() -> keys.listening().size() == 1);
            server.call("CONFIG", "RESETSTAT");

            assertThat(second.release()).isTrue();

            assertThat(thirdWaits.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            Map<String, Long> executed = executed();
            assertThat(executed).doesNotContainKey("publish");
            assertThat(executed.get("evalsha")).isBetween(1L, 1 + Looks.since(start));
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void givenHundredsWait_whenCounted_thenTwoConnectionsAndEachAsksOnceInFiveSeconds() throws Exception {
        int waiters = 300;
        Lock holder = locks.createLock("waited for", LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        ExecutorService executor = Executors.newCachedThreadPool();
        try {
            List<Future<Boolean>> waiting = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                Lock lock = locks.createLock("waited for", LONG_TTL);
                waiting.add(executor.submit(() -> acquired(lock) && lock.release()));
            }
            // The first of a store poll until it has subscribed.
            Awaitility.await().until(() -> keys.listening().size() == waiters);
            assertThat(connections()).isEqualTo(2);
            server.call("CONFIG", "RESETSTAT");

            long start = System.nanoTime();
            Awaitility.await().pollDelay(Duration.ofSeconds(2)).untilAsserted(() -> {
                long asked = executed().getOrDefault("evalsha", 0L);
                assertThat(asked).isLessThanOrEqualTo(waiters * (1 + Looks.since(start)));
            });
            assertThat(holder.release()).isTrue();
            for (Future<Boolean> wait : waiting) {
                assertThat(wait.get()).isTrue();
            }
        } finally {
            executor.shutdownNow();
        }
    }

    private static long connections() {
        return server.text("CLIENT", "LIST")
                .lines()
                .filter(line -> line.contains("lib-name=Lettuce")
                        || line.contains("cmd=eval")
                        || line.contains("cmd=subscribe"))
                .count();
    }

    private Map<String, Long> counted(Function<Lock, Boolean> cycle) throws Exception {
        // A machine that stands still makes one cycle long enough for that.
        keys.subscribe(locks.createLock("counted", LONG_TTL));
        Callable<Boolean> call = () -> cycle.apply(locks.createLock("counted", LONG_TTL));
        assertThat(call.call()).isTrue();
        server.call("CONFIG", "RESETSTAT");
        for (int i = 0; i < CYCLES; i++) {
            assertThat(call.call()).isTrue();
        }
        return executed();
    }

    private void run(ExecutorService executor, long threads, long cycles) throws Exception {
        run(executor, threads, cycles, locks);
    }

    private static void run(ExecutorService executor, long threads, long cycles, LockFactory... factories)
            throws Exception {
        List<Future<Boolean>> runs = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            LockFactory mine = factories[i % factories.length];
            runs.add(executor.submit(() -> {
                boolean all = true;
                for (int cycle = 0; cycle < cycles; cycle++) {
                    Lock lock = mine.createLock("contended", LONG_TTL);
                    all &= acquired(lock) && lock.release();
                }
                return all;
            }));
        }
        for (Future<Boolean> run : runs) {
            assertThat(run.get()).isTrue();
        }
    }

    private static boolean acquired(Lock lock) {
        try {
            return lock.tryAcquire(Duration.ofMinutes(1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static Map<String, Long> executed() {
        return server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_")
                        && !line.startsWith("cmdstat_config")
                        && !line.startsWith("cmdstat_info"))
                .collect(Collectors.toMap(
                        line -> line.substring("cmdstat_".length(), line.indexOf(':')),
                        line -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(',')))));
    }

    private static long total(Map<String, Long> executed) {
        return executed.values().stream().mapToLong(Long::longValue).sum();
    }
}

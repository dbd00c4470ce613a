package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thousands of locks kept alive at once, counted by the server, which stops for 2 s in between. A round is a third of the
 * TTL; {@code -Dlatchkey.rounds=30} are five minutes.
 */
class ManyRenewalsIT {

    private static final Logger log = LoggerFactory.getLogger(ManyRenewalsIT.class);

    private static final int LOCKS = Integer.getInteger("latchkey.many", 10_000);
    private static final int ROUNDS = Integer.getInteger("latchkey.rounds", 2);
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration STOP = Duration.ofSeconds(2);

    /** A short run is spent on what a JVM does when it has just begun. */
    private static final double LARGEST_SHARE = ROUNDS < 6 ? 0.5 : 0.1;

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /** A thread of an earlier test may still be on its way out. */
    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

    private final RedisServer server = RedisServer.start();
    private final LockFactory locks = LockFactory.connect(PatientDsn.redis(server.dsn()));
    private final Queue<LossReason> losses = new ConcurrentLinkedQueue<>();

    @AfterEach
    void end() {
        locks.close();
        server.close();
    }

    @Test
    void givenManyLocks_whenRenewedAndTheServerStopsForAWhile_thenNoneIsLostAndItCostsLittle() {
        for (int i = 0; i < 200; i++) {
            assertThat(renewed("past" + i).release()).isTrue();
        }
        List<Lock> held = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            held.add(renewed("many" + i));
        }
        long before = evaluations();
        long cpuBefore = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();

        awaitRenewals(before + (long) (ROUNDS / 2) * LOCKS);
        server.freezeFor(STOP);
        awaitRenewals(before + (long) ROUNDS * LOCKS);

        double wall = System.nanoTime() - began;
        double cores = (PROCESS.getProcessCpuTime() - cpuBefore) / wall;
        double commands = (evaluations() - before) / (double) LOCKS;
        log.info(
                "{} locks for {} s: {} % of a core, {} commands a lock",
                LOCKS, Math.round(wall / 1e9), Math.round(10_000 * cores) / 100.0, Math.round(100 * commands) / 100.0);
        assertThat(losses).isEmpty();
        assertThat(held).noneMatch(Lock::isExpired);
        assertThat(server.text("DBSIZE"))
                .as("locks, past locks, and the name of their owner")
                .isEqualTo(Integer.toString(LOCKS + 200 + 1));
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !threadsBefore.contains(thread))
                        .map(Thread::getName))
                .filteredOn(name -> name.startsWith("latchkey-"))
                .doesNotHaveDuplicates()
                // The cleaner is one for the whole JVM, and waits for the garbage collector alone.
                .isSubsetOf("latchkey-alarm", "latchkey-renewer", "latchkey-notifier", "latchkey-cleaner");
        // Past locks cost nothing, and no lock is renewed twice a turn.
        assertThat(commands).isLessThan(ROUNDS + 2.0);
        assertThat(cores).as("cores in use").isLessThan(LARGEST_SHARE);
    }

    private void awaitRenewals(long evaluations) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(2).plus(TTL.multipliedBy(ROUNDS)))
                .pollInterval(Duration.ofMillis(500))
                .until(() -> evaluations() >= evaluations);
    }

    private Lock renewed(String resource) {
        Lock lock =
                locks.lock(resource).ttl(TTL).autoRefresh().onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }

    private long evaluations() {
        return server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))))
                .sum();
    }
}

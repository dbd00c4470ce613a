package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Thousands of locks kept alive at once, counted by the server. */
@Timeout(180)
class ManyRenewalsIT {

    private static final int LOCKS = Integer.getInteger("latchkey.many", 10_000);
    private static final int ROUNDS = Integer.getInteger("latchkey.rounds", 2);
    private static final Duration TTL = Duration.ofSeconds(30);

    private final RedisServer server = RedisServer.start();
    private final LockFactory locks = LockFactory.connect(server.dsn());

    @AfterEach
    void end() {
        locks.close();
        server.close();
    }

    @Test
    void givenManyLocks_whenRenewed_thenThreeThreadsAndACommandEach() {
        for (int i = 0; i < 200; i++) {
            assertThat(renewed("past" + i).release()).isTrue();
        }
        List<Lock> held = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            held.add(renewed("many" + i));
        }
        long before = evaluations();

        Awaitility.await()
                .atMost(Duration.ofMinutes(2).plus(TTL.multipliedBy(ROUNDS)))
                .pollInterval(Duration.ofMillis(500))
                .until(() -> evaluations() - before >= (long) ROUNDS * LOCKS);

        assertThat(held).noneMatch(Lock::isExpired);
        assertThat(Thread.getAllStackTraces().keySet().stream().map(Thread::getName))
                .filteredOn(name -> name.matches("latchkey-(alarm|renewer|notifier)"))
                .doesNotHaveDuplicates();
        // Past locks cost nothing, and no lock is renewed twice a turn.
        assertThat(evaluations() - before).isLessThan((ROUNDS + 2L) * LOCKS);
        assertThat(server.call("EXISTS", "lock:{many0}")).isEqualTo(1L);
    }

    private Lock renewed(String resource) {
        Lock lock = locks.lock(resource).ttl(TTL).autoRefresh().create();
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

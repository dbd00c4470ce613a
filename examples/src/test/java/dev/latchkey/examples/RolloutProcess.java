package dev.latchkey.examples;

import dev.latchkey.LockFactory;
import dev.latchkey.reentrant.ReentrantLocks;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.shedlock.LatchkeyLockProvider;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import org.postgresql.ds.PGSimpleDataSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * One of several processes that do the same work one at a time, with the lock of an old library, both locks, or the new one.
 * It works again and again until its input ends.
 */
final class RolloutProcess {

    /** Says so when it has worked so often: by then it has met the others. */
    static final int HOLDS_UNTIL_SETTLED = 20;

    private static final String JOB = "report";
    private static final long WORK_NANOS = Duration.ofMillis(2).toNanos();
    private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

    private final Path occupied;
    private int holds;
    private int overlaps;

    private RolloutProcess(Path occupied) {
        this.occupied = occupied;
    }

    /**
     * Works until its input ends, and then prints how often, and how often somebody else was at it.
     *
     * @param arguments the library, the step, the address of the server, and a file that shows that somebody works
     */
    public static void main(String[] arguments) throws Exception {
        RolloutProcess process = new RolloutProcess(Path.of(arguments[3]));
        try (LockFactory locks = LockFactory.connect(arguments[2])) {
            if (arguments[0].equals("redisson")) {
                process.workWithRedisson(arguments[1], arguments[2], locks);
            } else {
                process.workWithShedLock(arguments[1], arguments[2], locks);
            }
        }
        System.out.println("holds " + process.holds + " overlaps " + process.overlaps);
    }

    private void workWithRedisson(String step, String dsn, LockFactory locks) throws IOException {
        Config config = new Config();
        config.useSingleServer().setAddress(dsn);
        RedissonClient redisson = Redisson.create(config);
        Lock lock = lock(step, redisson, locks);
        while (System.in.available() == 0) {
            lock.lock();
            try {
                work();
            } finally {
                lock.unlock();
            }
        }
        redisson.shutdown();
    }

    static Lock lock(String step, RedissonClient redisson, LockFactory locks) {
        return switch (step) {
            case "old" -> redisson.getLock(JOB);
            case "both" -> new ReentrantLocks(locks).rolloutFrom(redisson.getLock(JOB), JOB);
            default -> new ReentrantLocks(locks).lock(JOB);
        };
    }

    private void workWithShedLock(String step, String dsn, LockFactory locks) throws IOException {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(PostgresServer.jdbcUrl(dsn));
        LockProvider provider = provider(step, new JdbcLockProvider(database), locks);
        while (System.in.available() == 0) {
            Optional<SimpleLock> lock =
                    provider.lock(new LockConfiguration(Instant.now(), JOB, Duration.ofMinutes(1), Duration.ZERO));
            if (lock.isPresent()) {
                work();
                lock.get().unlock();
            }
            // ShedLock does not wait: without a pause, all ask as fast as they can while the next one starts.
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    static LockProvider provider(String step, LockProvider old, LockFactory locks) {
        return switch (step) {
            case "old" -> old;
            case "both" -> new LatchkeyLockProvider(locks).rolloutFrom(old);
            default -> new LatchkeyLockProvider(locks).keepAlive(Duration.ofSeconds(30));
        };
    }

    /** Whoever is here beside somebody else finds the file, which nobody leaves behind. */
    private void work() throws IOException {
        holds++;
        try {
            Files.createFile(occupied);
            LockSupport.parkNanos(WORK_NANOS);
            Files.delete(occupied);
        } catch (FileAlreadyExistsException e) {
            overlaps++;
        }
        if (holds == HOLDS_UNTIL_SETTLED) {
            System.out.println("settled");
        }
    }
}

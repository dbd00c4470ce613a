package dev.latchkey.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Replaces ShedLock's own provider for SQL, in the same database. */
class RolloutIT {

    private static final String URL = PostgresServer.jdbcUrl(PostgresServer.sharedDsn());

    private static LockFactory locks;
    private static LockProvider old;

    private final String job = "job-" + UUID.randomUUID();

    @BeforeAll
    static void open() throws SQLException {
        try (Connection connection = DriverManager.getConnection(URL);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) PRIMARY KEY,"
                    + " lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
        }
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(URL);
        old = new JdbcLockProvider(database);
        locks = LockFactory.connect(PostgresServer.sharedDsn());
    }

    @AfterAll
    static void close() {
        locks.close();
    }

    @Test
    void givenBothLocks_whenOthersHaveTheOldOrTheNewProvider_thenEachExcludesTheOther() {
        assertExcluding(old, duringTheRollout(old, locks));
        assertExcluding(duringTheRollout(old, locks), duringTheRollout(old, locks));
        assertExcluding(duringTheRollout(old, locks), newProvider(locks));
        assertExcluding(newProvider(locks), newProvider(locks));
    }

    /** Why there have to be two steps. */
    @Test
    void givenTheOldAndTheNewProvider_whenBothLock_thenBothRunTheJob() {
        SimpleLock oldLock = lock(old).orElseThrow();

        lock(newProvider(locks)).orElseThrow().unlock();

        oldLock.unlock();
    }

    /** Nobody has run the job, so nothing is to be kept from running it. */
    @Test
    void givenOneLockIsHeld_whenBothAreRefused_thenTheOtherIsFreeWhateverItsLockAtLeastFor() {
        LockProvider both = duringTheRollout(old, locks);
        SimpleLock newLock = lock(newProvider(locks)).orElseThrow();
        assertThat(lockForAtLeastAMinute(both)).isEmpty();
        lock(old).orElseThrow().unlock();
        newLock.unlock();

        SimpleLock oldLock = lock(old).orElseThrow();
        assertThat(lockForAtLeastAMinute(both)).isEmpty();
        lock(newProvider(locks)).orElseThrow().unlock();
        oldLock.unlock();
    }

    @Test
    void givenBothWereHeld_whenUnlocked_thenBothAreKeptForTheirLockAtLeastFor() {
        // Closed, for its thread would stay until the minute is over.
        try (LatchkeyLockProvider provider = new LatchkeyLockProvider(locks)) {
            SimpleLock held = lockForAtLeastAMinute(provider.rolloutFrom(old)).orElseThrow();

            held.unlock();

            assertThat(lock(old)).isEmpty();
            assertThat(lock(newProvider(locks))).isEmpty();
        }
    }

    /** As where the old database is slow: it was thrown what ShedLock throws at a second unlock, which ends a scheduled job. */
    @Test
    void givenTheNewLockIsLostWhileTheOldOneIsTaken_whenBothAreWanted_thenNeitherIsHeld() {
        LockProvider slow = configuration -> {
            locks.holders(job)
                    .forEach(holder -> assertThat(locks.forceRelease(
                                    job, holder.fencingToken().orElseThrow()))
                            .isTrue());
            return old.lock(configuration);
        };

        assertThat(lockForAtLeastAMinute(duringTheRollout(slow, locks))).isEmpty();

        assertThat(locks.holders(job)).isEmpty();
    }

    private Optional<SimpleLock> lockForAtLeastAMinute(LockProvider provider) {
        return provider.lock(new LockConfiguration(Instant.now(), job, Duration.ofMinutes(2), Duration.ofMinutes(1)));
    }

    private void assertExcluding(LockProvider one, LockProvider other) {
        assertRefusedWhileHeld(one, other);
        assertRefusedWhileHeld(other, one);
    }

    private void assertRefusedWhileHeld(LockProvider holder, LockProvider rival) {
        SimpleLock held = lock(holder).orElseThrow();
        assertThat(lock(rival)).isEmpty();
        held.unlock();
        lock(rival).orElseThrow().unlock();
    }

    private Optional<SimpleLock> lock(LockProvider provider) {
        return provider.lock(new LockConfiguration(Instant.now(), job, Duration.ofMinutes(1), Duration.ZERO));
    }

    LockProvider newProvider(LockFactory locks) {
        return new LatchkeyLockProvider(locks).keepAlive(Duration.ofSeconds(30));
    }

    LockProvider duringTheRollout(LockProvider old, LockFactory locks) {
        return new LatchkeyLockProvider(locks).rolloutFrom(old);
    }
}

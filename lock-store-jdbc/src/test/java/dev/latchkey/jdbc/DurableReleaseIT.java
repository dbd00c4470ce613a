package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which commits PostgreSQL writes to the disk before it answers, and what a crash does to those that it does not. */
class DurableReleaseIT {

    private static final int CYCLES = 20;

    /** Only commits write to the disk for so long. */
    private static final String LAZY_WRITER = "wal_writer_delay=10s";

    /** Others, such as a checkpoint, may write in between: not all cycles are the same. */
    @ParameterizedTest
    @CsvSource({"'', 0", "?durable-release=false, 0", "?durable-release=true, 20"})
    void givenCycles_whenReleased_thenAcquiresAreOnTheDiskAndReleasesIfSaidSo(String option, int releasesOnDisk)
            throws Exception {
        try (PostgresServer server = PostgresServer.start(LAZY_WRITER);
                JdbcStore store = Stores.open(server.dsn() + option);
                LockFactory locks = new LockFactory(store);
                Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            int acquires = 0;
            int releases = 0;
            for (int i = 0; i < CYCLES; i++) {
                Lock lock = locks.createLock("counted").acquire();
                acquires += isOnDisk(statement) ? 1 : 0;
                lock.release();
                releases += isOnDisk(statement) ? 1 : 0;
            }

            assertThat(acquires).as("acquires on the disk").isGreaterThan(CYCLES - 3);
            assertThat(releases).as("releases on the disk").isBetween(releasesOnDisk - 2, releasesOnDisk + 2);
        }
    }

    @Test
    void givenTheServerCrashesRightAfterARelease_whenItIsBack_thenHeldForTheRestOfTheLeaseAndTokensGrow()
            throws Exception {
        boolean isReleaseLost = isReleaseLostByACrash();
        // Again where the lazy writer has written it just in time.
        for (int i = 0; i < 2 && !isReleaseLost; i++) {
            isReleaseLost = isReleaseLostByACrash();
        }

        assertThat(isReleaseLost).isTrue();
    }

    private static boolean isReleaseLostByACrash() throws Exception {
        try (PostgresServer server = PostgresServer.start(LAZY_WRITER);
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("a", Duration.ofMinutes(5)).acquire();
            long token = lock.fencingToken().orElseThrow();
            Key key = lock.key();
            assertThat(lock.release()).isTrue();

            server.kill();
            server.restart();

            if (locks.createLock("a").tryAcquire()) {
                return false;
            }
            assertThat(lock.isAcquired()).as("held by whoever released it").isFalse();
            assertThat(store.delete(key)).isTrue();
            assertThat(locks.createLock("a").acquire().fencingToken().orElseThrow())
                    .isGreaterThan(token);
            return true;
        }
    }

    /** A grant is on the disk, and with it what came before. */
    @Test
    void givenTheServerCrashesAfterTheNextGrant_whenItIsBack_thenTheNextHolderHolds() throws Exception {
        try (PostgresServer server = PostgresServer.start(LAZY_WRITER);
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("a", Duration.ofMinutes(5)).acquire().release();
            Lock next = locks.createLock("a", Duration.ofMinutes(5)).acquire();

            server.kill();
            server.restart();

            assertThat(next.isAcquired()).isTrue();
        }
    }

    private static boolean isOnDisk(Statement statement) throws SQLException {
        try (ResultSet flushed =
                statement.executeQuery("SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()")) {
            return flushed.next() && flushed.getBoolean(1);
        }
    }
}

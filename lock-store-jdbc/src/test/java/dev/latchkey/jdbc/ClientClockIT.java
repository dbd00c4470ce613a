package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.MariaDbServer;
import dev.latchkey.testkit.PostgresServer;
import dev.latchkey.testkit.RemoteFailure;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients whose clock or time zone is another: neither their leases nor their tokens depend on it. */
@Timeout(180)
class ClientClockIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @ParameterizedTest
    @CsvSource({"postgresql,+1h", "mariadb,-1h"})
    void givenAClientWhoseClockIsAnHourOff_whenItHoldsAndTries_thenItIsAsAnyOther(String database, String offset)
            throws Exception {
        String dsn = dsn(database);
        String resource = database + offset;
        try (LockFactory locks = LockFactory.connect(dsn);
                SecondProcess other = SecondProcess.connect(dsn, clock(offset))) {
            Lock here = locks.createLock(resource, LONG).acquire();
            awaitConnected(other.lock(resource + "-other", LONG));
            RemoteLock there = other.lock(resource, SHORT);
            assertThat(there.tryAcquire()).as("while it is held here").isFalse();
            long before = here.fencingToken().orElseThrow();
            assertThat(here.release()).isTrue();

            assertThat(there.tryAcquire()).isTrue();

            long between = there.fencingToken().orElseThrow();
            assertThat(between - before).isBetween(1L, Duration.ofMinutes(10).toNanos() / 1_000);
            Lock next = locks.createLock(resource, LONG);
            assertThat(next.tryAcquire()).as("while it is held there").isFalse();
            assertThat(next.tryAcquire(LIMIT)).as("once its lease is over").isTrue();
            assertThat(there.isExpired()).isTrue();
            assertThat(next.fencingToken().orElseThrow() - between)
                    .isBetween(SHORT.toNanos() / 1_000, Duration.ofMinutes(10).toNanos() / 1_000);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void givenAClientInAnotherTimeZone_whenItHolds_thenItIsSeenHereAsItIs(String database) {
        String dsn = dsn(database);
        String resource = database + "-zone";
        try (LockFactory locks = LockFactory.connect(dsn);
                SecondProcess other = SecondProcess.connect(dsn, Map.of("TZ", "Pacific/Kiritimati"))) {
            RemoteLock there = other.lock(resource, LONG);
            assertThat(there.tryAcquire()).isTrue();

            assertThat(locks.createLock(resource, LONG).tryAcquire()).isFalse();

            Lock adopted = locks.createLock(there.handOver(), LONG);
            assertThat(adopted.isAcquired()).isTrue();
            assertThat(adopted.remainingLifetime().orElseThrow()).isBetween(LONG.minusSeconds(60), LONG);
            assertThat(adopted.release()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql,SET TIME ZONE 'America/New_York',SET TIME ZONE 'Asia/Kolkata'",
        "mariadb,SET time_zone = '-04:00',SET time_zone = '+05:30'"
    })
    void givenSessionsOfOtherZones_whenOneHolds_thenAllSeeTheSameLease(String database, String west, String east)
            throws Exception {
        String resource = database + "-zones";
        try (HikariDataSource westPool = pool(database, west);
                HikariDataSource eastPool = pool(database, east);
                JdbcStore westStore = new JdbcStore(westPool);
                JdbcStore eastStore = new JdbcStore(eastPool);
                LockFactory locks = new LockFactory(westStore);
                LockFactory others = new LockFactory(eastStore)) {
            Lock held = locks.createLock(resource, LONG).acquire();
            Key key = held.key();

            assertThat(others.createLock(resource, LONG).tryAcquire()).isFalse();

            assertThat(eastStore.holders(resource).get(0).remaining().orElseThrow())
                    .isBetween(LONG.minusSeconds(60), LONG);
            Lock adopted = others.createLock(key, LONG);
            assertThat(adopted.refresh().remainingLifetime().orElseThrow()).isBetween(LONG.minusSeconds(60), LONG);
            assertThat(westStore.holders(resource).get(0).remaining().orElseThrow())
                    .isBetween(LONG.minusSeconds(60), LONG);
            assertThat(held.release()).isTrue();
        }
    }

    private static HikariDataSource pool(String database, String whenConnected) {
        Dsn dsn = Dsn.parse(dsn(database));
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(dsn.url());
        dsn.user().ifPresent(pool::setUsername);
        dsn.password().ifPresent(pool::setPassword);
        pool.setConnectionInitSql(whenConnected);
        return pool;
    }

    private static String dsn(String database) {
        return database.equals("mariadb") ? MariaDbServer.sharedDsn() : PostgresServer.sharedDsn();
    }

    /** A process whose every look at the clock goes another way is slow to begin with. */
    private static void awaitConnected(RemoteLock lock) {
        Awaitility.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(RemoteFailure.class)
                .until(lock::tryAcquire);
    }

    /** What gives a process another time of day; the clock that measures its leases goes on as it is. */
    private static Map<String, String> clock(String offset) throws IOException {
        try (Stream<Path> files =
                Files.find(Path.of("/usr/lib"), 4, (path, attributes) -> path.endsWith("faketime/libfaketime.so.1"))) {
            Path library = files.findFirst()
                    .orElseThrow(() -> new AssertionError("no libfaketime here: \"apt-get install faketime\""));
            return Map.of("LD_PRELOAD", library.toString(), "FAKETIME", offset, "FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
    }
}

package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.RemoteFailure;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients whose clock or time zone is another: neither their leases nor their tokens depend on it. */
class ClientClockIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofSeconds(10));
    private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);
    private static final Duration LIMIT = TimeLimits.LIMIT;

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

    /** C20: SQLite has no server, and reads the clock of the process that asks. */
    @Test
    void givenAProcessWhoseClockIsAhead_whenItHoldsInASqliteFile_thenTheOtherIsWarned(@TempDir Path directory)
            throws Exception {
        String dsn = "jdbc:sqlite:" + directory.resolve("locks.db");
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (LockFactory locks = LockFactory.connect(dsn);
                SecondProcess other = SecondProcess.connect(dsn, clock("+1h"))) {
            awaitConnected(other.lock("sqlite", LONG));

            assertThat(locks.createLock("sqlite").tryAcquire()).isFalse();
            assertThat(locks.createLock("sqlite").tryAcquire()).isFalse();
        } finally {
            System.setErr(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).containsOnlyOnce("lock.clocks_differ");
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

            Lock adopted = locks.createLock(there.transferKey(), LONG);
            assertThat(adopted.isAcquired()).isTrue();
            assertThat(adopted.remainingLifetime().orElseThrow()).isBetween(LONG.minusSeconds(60), LONG);
            assertThat(adopted.release()).isTrue();
        }
    }

    /** The same hour of the clock on the wall comes twice. */
    @Test
    void givenAClientHolds_whenDaylightSavingEndsThere_thenItsLeaseIsTheSame(@TempDir Path directory) throws Exception {
        Instant end = Instant.parse("2026-11-01T06:00:00Z");
        Path offset = directory.resolve("offset");
        Map<String, String> clock = new HashMap<>(otherTimeOfDay());
        clock.putAll(Map.of(
                "FAKETIME_TIMESTAMP_FILE", offset.toString(),
                "FAKETIME_CACHE_DURATION", "1",
                "TZ", "America/New_York"));
        set(offset, end.minus(HALF_AN_HOUR));
        String dsn = dsn("postgresql");
        try (LockFactory locks = LockFactory.connect(dsn);
                SecondProcess other = SecondProcess.connect(dsn, clock)) {
            RemoteLock there = other.lock("daylight", LONG);
            awaitConnected(there);
            assertThat(wallClock(clock)).startsWith("01:").endsWith("EDT");
            long token = there.fencingToken().orElseThrow();

            set(offset, end.plus(HALF_AN_HOUR));
            assertThat(wallClock(clock)).startsWith("01:").endsWith("EST");

            // The process looks at its new clock within a second.
            Awaitility.await()
                    .atMost(LIMIT)
                    .during(Duration.ofSeconds(3))
                    .until(() -> there.isAcquired() && !there.isExpired());
            there.refresh();
            assertThat(locks.createLock("daylight").tryAcquire()).isFalse();
            assertThat(locks.holders("daylight").get(0).remaining().orElseThrow())
                    .isBetween(LONG.minusSeconds(60), LONG);
            assertThat(there.release()).isTrue();
            Lock next = locks.createLock("daylight").acquire();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
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

    private static Map<String, String> clock(String offset) throws IOException {
        Map<String, String> clock = new HashMap<>(otherTimeOfDay());
        clock.put("FAKETIME", offset);
        return clock;
    }

    /**
     * What gives a process another time of day; the clock that measures its leases goes on as it is, and so do its waits, which
     * libfaketime otherwise ends at once: each thread of the JVM that waits would keep a core busy.
     */
    private static Map<String, String> otherTimeOfDay() throws IOException {
        return Map.of(
                "LD_PRELOAD", faketime(), "FAKETIME_DONT_FAKE_MONOTONIC", "1", "FAKETIME_FORCE_MONOTONIC_FIX", "0");
    }

    private static String faketime() throws IOException {
        try (Stream<Path> files =
                Files.find(Path.of("/usr/lib"), 4, (path, attributes) -> path.endsWith("faketime/libfaketime.so.1"))) {
            return files.findFirst()
                    .orElseThrow(() -> new AssertionError("no libfaketime here: \"apt-get install faketime\""))
                    .toString();
        }
    }

    private static void set(Path offset, Instant now) throws IOException {
        Path written = offset.resolveSibling("written");
        Files.writeString(
                written, "%+d".formatted(Duration.between(Instant.now(), now).toSeconds()));
        Files.move(written, offset, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** What a process with this clock reads off the wall. */
    private static String wallClock(Map<String, String> clock) throws IOException {
        ProcessBuilder date = new ProcessBuilder("date", "+%H:%M %Z");
        date.environment().putAll(clock);
        return new String(date.start().getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }
}

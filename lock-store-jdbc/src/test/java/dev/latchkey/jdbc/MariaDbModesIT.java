package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.LeaseChange;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A16: MariaDB's modes change in which order columns are set, and with it what an upsert sees. */
class MariaDbModesIT {

    private static final Duration LONG = Duration.ofMinutes(5);

    @ParameterizedTest
    @CsvSource({
        "mariadb,ORACLE",
        "mariadb,SIMULTANEOUS_ASSIGNMENT",
        "mysql,ORACLE",
        "mysql,SIMULTANEOUS_ASSIGNMENT",
        "mariadb,'STRICT_ALL_TABLES,ANSI,NO_ZERO_DATE,NO_BACKSLASH_ESCAPES,TIME_ROUND_FRACTIONAL'"
    })
    void givenAMode_whenRivalsAsk_thenOneHoldsAndTokensGrow(String driver, String mode) throws Exception {
        try (MariaDbServer server = MariaDbServer.start("--sql-mode=" + mode);
                JdbcStore store = Stores.open(dsn(server, driver));
                LockFactory locks = new LockFactory(store);
                JdbcStore rivalStore = Stores.open(dsn(server, driver));
                LockFactory rivals = new LockFactory(rivalStore)) {
            Lock held = locks.createLock("report", LONG).acquire();
            assertThat(rivals.createLock("report", LONG).tryAcquire()).isFalse();
            assertThat(held.isAcquired()).isTrue();
            assertThat(held.acquire().remainingLifetime().orElseThrow()).isGreaterThan(LONG.minusSeconds(60));
            assertThat(rivals.createLock("report", LONG).tryAcquireShared()).isFalse();
            long first = held.fencingToken().orElseThrow();
            assertThat(held.release()).isTrue();

            Lock next = rivals.createLock("report", LONG).acquire();
            long second = next.fencingToken().orElseThrow();
            assertThat(second).isGreaterThan(first);
            // Not by the Lock, which fails if it is told later than that.
            granted(rivalStore.refresh(
                    exclusive(next.key(), Duration.ofMillis(3)).with(LeaseChange.SET)));
            Lock third = locks.createLock("report", LONG).acquire();
            assertThat(third.fencingToken().orElseThrow()).isGreaterThan(second);
            assertThat(rivals.createLock("report", LONG).tryAcquire()).isFalse();
            assertThat(third.release()).isTrue();

            Lock reader = locks.createLock("report", LONG).acquireShared();
            assertThat(rivals.createLock("report", LONG).tryAcquire()).isFalse();
            Lock writer = reader.acquire();
            assertThat(writer.fencingToken().orElseThrow())
                    .isGreaterThan(third.fencingToken().orElse(0));
            assertThat(rivals.createLock("report", LONG).tryAcquireShared()).isFalse();
            assertThat(writer.release()).isTrue();
        }
    }

    /** A21: each server of a Galera cluster has a clock of its own. */
    @ParameterizedTest
    @CsvSource({"ON,true", "OFF,false"})
    void givenGalera_whenFirstUsed_thenItIsWarnedOfOnce(String replication, boolean warned) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (MariaDbServer server = MariaDbServer.start("--wsrep-on=" + replication, "--binlog-format=ROW");
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            assertThat(locks.createLock("first").tryAcquire()).isTrue();
            assertThat(locks.createLock("second").tryAcquire()).isTrue();
        } finally {
            System.setErr(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)
                        .lines()
                        .filter(line -> line.contains("lock.several_clocks_found")))
                .hasSize(warned ? 1 : 0)
                .allMatch(line -> line.contains("wsrep_on=ON"));
    }

    private static String dsn(MariaDbServer server, String driver) {
        return driver.equals("mariadb")
                ? server.dsn()
                : server.dsn().replaceFirst("^mariadb:", "mysql:").replaceFirst("sslMode=disable", "sslMode=DISABLED");
    }
}

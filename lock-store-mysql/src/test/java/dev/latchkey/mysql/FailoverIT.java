package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mariadb.jdbc.MariaDbDataSource;

/** An address behind which another server answers from now on, as after the failover of a proxy or of a name. */
class FailoverIT {

    private static MariaDbServer first;
    private static MariaDbServer second;

    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private FaultProxy toFirst;
    private MySqlLockStore store;
    private LockFactory locks;
    private volatile boolean failedOver;

    @BeforeAll
    static void start() {
        first = MariaDbServer.start();
        second = MariaDbServer.start();
    }

    @AfterAll
    static void stop() {
        first.close();
        second.close();
    }

    @BeforeEach
    void open() {
        toFirst = FaultProxy.to(first.address());
        store = new MySqlLockStore(new Sources(() -> new MariaDbDataSource(
                        failedOver
                                ? Raw.jdbcUrl(second)
                                : "jdbc:mariadb://" + toFirst.address() + "/test?user=root&sslMode=disable")
                .getConnection()));
        locks = new LockFactory(store);
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
        toFirst.close();
    }

    @Test
    void givenHeld_whenTheProxyFailsOver_thenToldAndTheNextIsHeldOnTheOtherServer() throws Exception {
        Lock lock = locks.lock("report").onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();

        failedOver = true;
        toFirst.refuse();

        Awaitility.await()
                .atMost(TimeLimits.scaled(Duration.ofSeconds(4)))
                .untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
        assertThat(lock.isAcquired()).isFalse();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(Raw.ask(second, "SELECT IS_USED_LOCK('report')")).isNotEqualTo("null");
        // The old server frees it when it has noticed that the connection is gone.
        Awaitility.await()
                .untilAsserted(() -> assertThat(Raw.ask(first, "SELECT IS_USED_LOCK('report')"))
                        .isEqualTo("null"));
    }

    /**
     * Connections have numbers, and every server begins with 1: the wait is cancelled by the number of its connection. Another
     * statement on it may contain the name of the lock as well.
     */
    @Test
    void givenOneWaitsOnTheOldServer_whenInterruptedAfterTheFailover_thenNoStatementOfOthersIsKilledOnTheNewOne()
            throws Exception {
        Lock shared = locks.createLock("beside");
        assertThat(shared.tryAcquire()).isTrue();
        try (Connection holder = Raw.connect(first)) {
            assertThat(Raw.rows(holder, "SELECT GET_LOCK('report', 0)")).containsExactly("1");
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report")::acquire);
            Awaitility.await().until(() -> Raw.waiting(first) == 1);
            long number = store.sessions().open().stream()
                    .filter(Session::isWaiting)
                    .findAny()
                    .orElseThrow()
                    .id();
            failedOver = true;
            Raw.killHolder(first, "beside");
            Awaitility.await().until(shared::isExpired);
            try (Connection foreign = withNumber(number)) {
                BackgroundCall<List<String>> work =
                        BackgroundCall.start(() -> Raw.rows(foreign, "SELECT SLEEP(8), 'report'"));
                Awaitility.await()
                        .until(() -> Raw.rows(
                                        second,
                                        "SELECT id FROM information_schema.processlist WHERE state = 'User sleep'")
                                .contains(Long.toString(number)));

                waiting.interrupt();

                assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
                assertThat(work.result()).containsExactly("0");
            }
        }
    }

    /** In a mode of its own for several hosts, the driver replaces a broken connection in silence, and with it all locks. */
    @Test
    void givenADriverThatConnectsAgain_whenTheConnectionIsKilled_thenTheHolderIsTold() throws Exception {
        String url = "jdbc:mariadb:sequential://" + first.address() + "," + first.address()
                + "/test?user=root&sslMode=disable";
        try (MySqlLockStore again = new MySqlLockStore(new MariaDbDataSource(url));
                LockFactory factory = new LockFactory(again)) {
            Lock lock = factory.lock("again").onLost(losses::add).create();
            assertThat(lock.tryAcquire()).isTrue();

            Raw.killHolder(first, "again");

            Awaitility.await()
                    .atMost(TimeLimits.scaled(Duration.ofSeconds(4)))
                    .untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
            assertThat(lock.isAcquired()).isFalse();
        }
    }

    private Connection withNumber(long number) throws Exception {
        while (true) {
            Connection connection = Raw.connect(second);
            long made = connection.unwrap(org.mariadb.jdbc.Connection.class).getThreadId();
            if (made == number) {
                return connection;
            }
            connection.close();
            assertThat(made).as("connections of the second server").isLessThan(number);
        }
    }
}

package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** "Still mine", inside the caller's own transaction. */
class TransactionGuardIT {

    /** Enough for a process to get from its grant into its transaction. */
    private static final Duration GUARDED_TTL = TimeLimits.ttl(Duration.ofSeconds(8));

    /** Databases that refuse and wait each in a way of its own. */
    enum On {
        POSTGRESQL {
            @Override
            String url() {
                return PostgresServer.jdbcUrl(PostgresServer.sharedDsn());
            }
        },
        MARIADB {
            @Override
            String url() {
                return Dsn.parse(MariaDbServer.sharedDsn()).url() + "&user=root";
            }
        },
        H2 {
            @Override
            String url() {
                return "jdbc:h2:mem:guards;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=" + TimeLimits.LIMIT.toMillis();
            }

            @Override
            String patientUrl() {
                return url();
            }
        },
        HSQLDB {
            @Override
            String url() {
                return "jdbc:hsqldb:mem:guards;hsqldb.tx=mvlocks";
            }
        };

        abstract String url();

        /** Of one who waits for whatever the server waits for. */
        String patientUrl() {
            return url() + "&socketTimeout=0";
        }

        /** Of one who waits for a second; milliseconds with MariaDB's driver. */
        String impatientUrl() {
            return url() + "&socketTimeout=" + (this == MARIADB ? 1_000 : 1);
        }

        Connection transaction() throws SQLException {
            Connection connection = Objects.requireNonNull(DriverManager.getConnection(url()));
            connection.setAutoCommit(false);
            return connection;
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenHeld_whenGuarded_thenTheTransactionGoesOnAndTheHoldStays(On database) throws Exception {
        try (JdbcStore store = Stores.open(database.url());
                LockFactory locks = new LockFactory(store);
                Lock lock = locks.createLock("guarded-" + database).acquire();
                Connection connection = database.transaction()) {
            store.guard(connection, lock.key());
            connection.commit();

            assertThat(lock.isAcquired()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenTakenOver_whenGuarded_thenLost(On database) throws Exception {
        try (JdbcStore store = Stores.open(database.url());
                LockFactory locks = new LockFactory(store);
                Connection connection = database.transaction()) {
            Key key = overdue(store, locks, "taken-" + database);
            locks.createLock(key.resource()).acquire();

            assertThatThrownBy(() -> store.guard(connection, key)).isInstanceOf(LockLostException.class);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenReleased_whenGuarded_thenLost(On database) throws Exception {
        try (JdbcStore store = Stores.open(database.url());
                LockFactory locks = new LockFactory(store);
                Connection connection = database.transaction()) {
            Lock lock = locks.createLock("released-" + database).acquire();
            Key key = lock.key();
            assertThat(lock.release()).isTrue();

            assertThatThrownBy(() -> store.guard(connection, key)).isInstanceOf(LockLostException.class);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB", "H2"})
    void givenGuarded_whenTheLeaseEnds_thenNobodyTakesOverBeforeTheCommit(On database) throws Exception {
        try (JdbcStore store = Stores.open(database.patientUrl());
                LockFactory locks = new LockFactory(store);
                Connection connection = database.transaction()) {
            String resource = "committed-" + database;
            Lock lock = locks.createLock(resource, GUARDED_TTL).acquire();
            store.guard(connection, lock.key());
            Task<Lock> taking = Task.start(() -> locks.createLock(resource).acquire());
            // The lease has ended in the database as well when one that began later has.
            Lock later = locks.createLock(resource + "-later", GUARDED_TTL).acquire();
            Awaitility.await().until(() -> !later.isAcquired());
            assertThat(lock.isExpired()).isTrue();
            assertThat(taking.isDone()).isFalse();

            connection.commit();

            assertThat(taking.result().isAcquired()).isTrue();
            taking.result().release();
        }
    }

    /** The renewal of the guarded hold waited for that transaction, and everything else that the factory renews with it. */
    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void givenALongGuard_whenOthersAreRenewed_thenTheyStayHeld(On database) throws Exception {
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(9));
        try (JdbcStore store = Stores.open(database.patientUrl());
                LockFactory locks = new LockFactory(store);
                Connection transaction = database.transaction()) {
            List<LossReason> losses = new CopyOnWriteArrayList<>();
            Lock guarded = locks.lock("long-guard-" + database)
                    .ttl(ttl)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create()
                    .acquire();
            Lock other = locks.lock("beside-it-" + database)
                    .ttl(ttl)
                    .autoRefresh()
                    .create()
                    .acquire();
            store.guard(transaction, guarded.key());

            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());

            Awaitility.await().during(ttl).atMost(TimeLimits.LIMIT).until(() -> !other.isExpired());
            assertThat(other.isAcquired()).isTrue();
            transaction.rollback();
        }
    }

    @Test
    void givenAutocommit_whenGuarded_thenIllegalArgument() throws Exception {
        try (JdbcStore store = Stores.open(On.H2.url());
                LockFactory locks = new LockFactory(store);
                Lock lock = locks.createLock("autocommit").acquire();
                Connection connection = DriverManager.getConnection(On.H2.url())) {
            assertThatThrownBy(() -> store.guard(connection, lock.key()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("autocommit");
            assertThatThrownBy(() -> new FencingGuard().check(connection, "autocommit", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("autocommit");
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenAGreaterToken_whenASmallerOneComes_thenLost(On database) throws Exception {
        FencingGuard guard = new FencingGuard("fence_of_tests");
        String stock = "stock of Ünïcödé " + UUID.randomUUID();
        try (Connection connection = DriverManager.getConnection(database.url())) {
            guard.createTable(connection);
            guard.createTable(connection);
        }
        try (Connection connection = database.transaction()) {
            guard.check(connection, stock, 5);
            guard.check(connection, stock, 5);
            guard.check(connection, stock, 7);
            guard.check(connection, "other " + stock, 1);
            connection.commit();

            assertThatThrownBy(() -> guard.check(connection, stock, 6))
                    .isInstanceOf(LockLostException.class)
                    .hasMessageContaining("6");
            connection.rollback();
            guard.check(connection, stock, 7);
            connection.rollback();
        }
    }

    /** What a savepoint undoes, it undoes of the guard as well. */
    @ParameterizedTest
    @EnumSource
    void givenCheckedAfterASavepoint_whenThatIsUndone_thenOnlyACheckAgainKeepsSmallerTokensOut(On database)
            throws Exception {
        FencingGuard guard = new FencingGuard("fence_of_tests");
        String stock = "stock " + UUID.randomUUID();
        try (Connection connection = DriverManager.getConnection(database.url())) {
            guard.createTable(connection);
        }
        try (Connection connection = database.transaction();
                Connection another = database.transaction()) {
            guard.check(connection, stock, 1);
            Savepoint savepoint = connection.setSavepoint();
            guard.check(connection, stock, 20);
            connection.rollback(savepoint);
            connection.commit();

            guard.check(another, stock, 10);
            another.rollback();

            savepoint = connection.setSavepoint();
            guard.check(connection, stock, 20);
            connection.rollback(savepoint);
            guard.check(connection, stock, 20);
            connection.commit();

            assertThatThrownBy(() -> guard.check(another, stock, 10)).isInstanceOf(LockLostException.class);
            another.rollback();
        }
    }

    /** The first token of a resource that is committed between two statements of the guard is no greater one. */
    @Test
    void givenTheFirstTokenIsCommittedMeanwhile_whenAGreaterOneComes_thenItPasses() throws Exception {
        FencingGuard guard = new FencingGuard("fence_of_a_race");
        String resource = UUID.randomUUID().toString();
        On database = On.POSTGRESQL;
        try (Connection creating = DriverManager.getConnection(database.url())) {
            guard.createTable(creating);
        }
        try (Connection first = database.transaction();
                Connection second = database.transaction()) {
            guard.check(first, resource, 5);

            guard.check(before(second, "SELECT", first::commit), resource, 6);

            second.commit();
            assertThatThrownBy(() -> guard.check(first, resource, 5)).isInstanceOf(LockLostException.class);
            first.rollback();
        }
    }

    /** It had locked nothing: the next holder came and committed, and what was written before the take-over followed. */
    @Test
    void givenTheSameTokenIsCommittedMeanwhile_whenItPasses_thenAGreaterOneWaits() throws Exception {
        FencingGuard guard = new FencingGuard("fence_of_a_race");
        String resource = UUID.randomUUID().toString();
        On database = On.POSTGRESQL;
        try (Connection creating = DriverManager.getConnection(database.url())) {
            guard.createTable(creating);
        }
        try (Connection first = database.transaction();
                Connection second = database.transaction();
                Connection rival = database.transaction();
                Statement patience = rival.createStatement()) {
            guard.check(first, resource, 5);
            guard.check(before(second, "SELECT", first::commit), resource, 5);
            patience.execute("SET LOCAL lock_timeout = '1s'");

            assertThatThrownBy(() -> guard.check(rival, resource, 6)).isInstanceOf(LockStorageException.class);

            rival.rollback();
            second.commit();
            guard.check(rival, resource, 6);
            rival.commit();
            assertThatThrownBy(() -> guard.check(second, resource, 5)).isInstanceOf(LockLostException.class);
            second.rollback();
        }
    }

    /** H2 does not end a wait for a row with the statement's limit; what ends it was taken for what may be tried again. */
    @Test
    void givenAGuardOnH2_whenRenewedAmongOthers_thenTriedOnce() throws Exception {
        String url = "jdbc:h2:mem:impatient;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=1000";
        AtomicInteger taken = new AtomicInteger();
        try (HikariDataSource pool = new HikariDataSource();
                Connection transaction = Objects.requireNonNull(DriverManager.getConnection(url))) {
            pool.setJdbcUrl(url);
            JdbcStore store = new JdbcStore(new DelegatingSource(pool) {
                @Override
                public Connection getConnection() throws SQLException {
                    taken.incrementAndGet();
                    return super.getConnection();
                }
            });
            Key held = Key.of("impatient");
            held = holding(held, store.save(exclusive(held)));
            transaction.setAutoCommit(false);
            store.guard(transaction, held);
            taken.set(0);

            List<RefreshResult> outcomes = store.refreshAll(List.of(exclusive(held)), Duration.ofSeconds(3));

            assertThat(outcomes).singleElement().isInstanceOf(RefreshResult.Failed.class);
            assertThat(taken).hasValue(1);
            transaction.rollback();
        }
    }

    private interface Step {
        void run() throws SQLException;
    }

    /** Does something right before a statement that begins so is prepared. */
    private static Connection before(Connection connection, String beginning, Step step) {
        return (Connection) Proxy.newProxyInstance(
                TransactionGuardIT.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")
                            && arguments[0].toString().startsWith(beginning)) {
                        step.run();
                    }
                    return method.invoke(connection, arguments);
                });
    }

    /** C26: it committed what the caller had done so far, and left the connection in autocommit mode. */
    @ParameterizedTest
    @EnumSource
    void givenATransaction_whenTheGuardsTableIsToBeCreated_thenRefusedAndTheTransactionIsAsItWas(On database)
            throws Exception {
        String table = "fence_" + UUID.randomUUID().toString().replace("-", "");
        try (Connection plain = DriverManager.getConnection(database.url());
                Statement other = plain.createStatement();
                Connection connection = database.transaction();
                Statement statement = connection.createStatement()) {
            other.execute("CREATE TABLE work_" + table + " (x int)");
            statement.execute("INSERT INTO work_" + table + " VALUES (1)");

            assertThatThrownBy(() -> new FencingGuard(table).createTable(connection))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("autocommit");

            assertThat(connection.getAutoCommit()).isFalse();
            connection.rollback();
            try (ResultSet rows = other.executeQuery("SELECT count(*) FROM work_" + table)) {
                rows.next();
                assertThat(rows.getInt(1)).isZero();
            }
        }
    }

    /** C30: where rows count only if they changed, the same token looked like one that was too late. */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "mysql"})
    void givenOnlyChangedRowsAreCounted_whenTheSameTokenComesAgain_thenItPassesAndAnOlderOneDoesNot(String driver)
            throws Exception {
        String url = On.MARIADB.url().replace("jdbc:mariadb:", "jdbc:" + driver + ":") + "&useAffectedRows=true";
        String changed = driver.equals("mysql") ? url.replace("sslMode=disable", "sslMode=DISABLED") : url;
        String stock = "stock " + UUID.randomUUID();
        FencingGuard guard = new FencingGuard();
        try (Connection connection = DriverManager.getConnection(changed);
                Connection rival = DriverManager.getConnection(changed)) {
            guard.createTable(connection);
            connection.setAutoCommit(false);
            rival.setAutoCommit(false);
            guard.check(connection, stock, 7);
            guard.check(connection, stock, 7);
            connection.commit();
            guard.check(connection, stock, 7);
            connection.commit();
            // A snapshot of the rival in which its own token is the greatest.
            try (Statement statement = rival.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT count(*) FROM latchkey_fence")) {
                assertThat(rows.next()).isTrue();
            }
            guard.check(connection, stock, 8);
            connection.commit();

            assertThatThrownBy(() -> guard.check(rival, stock, 7)).isInstanceOf(LockLostException.class);
            rival.rollback();
        }
    }

    /** C30: as above, of state indexes. */
    @Test
    void givenOnlyChangedRowsAreCounted_whenIndexesAreRaisedToWhatTheyAre_thenDone() {
        String url = On.MARIADB.url() + "&useAffectedRows=true";
        try (JdbcStore store = Stores.open(url)) {
            Map<String, StateIndex> raised = Map.of(
                    "a " + UUID.randomUUID(), new StateIndex(3, 2), "b " + UUID.randomUUID(), new StateIndex(1, 1));
            store.raise(raised);
            store.raise(raised);
            store.raise(Map.of(raised.keySet().iterator().next(), new StateIndex(1, 1)));

            assertThat(store.indexes(raised.keySet())).isEqualTo(raised);
        }
    }

    @Test
    void givenHolderIsFrozenPastItsLease_whenItWakesAndWrites_thenBothGuardsRefuse() throws Exception {
        String url = On.POSTGRESQL.url();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS account");
            statement.execute("CREATE TABLE account (balance int NOT NULL)");
            statement.execute("INSERT INTO account VALUES (100)");
            new FencingGuard().createTable(connection);
        }
        Process process = start(PausedHolder.class, PostgresServer.sharedDsn(), url);
        try (BufferedReader said = reader(process);
                PrintStream commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
                JdbcStore store = Stores.open(PostgresServer.sharedDsn());
                LockFactory locks = new LockFactory(store)) {
            assertThat(said.readLine()).isEqualTo("holding");
            signal("STOP", process);
            write(url, locks.createLock("account").acquire());
            signal("CONT", process);
            commands.println("go on");

            assertThat(said.readLine()).isEqualTo("fencing guard: refused TAKEN_OVER");
            assertThat(said.readLine()).isEqualTo("store guard: refused TAKEN_OVER");
            assertThat(balance(url)).isEqualTo(42);
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void givenGuardedAndFrozenPastItsLease_whenThawed_thenItsCommitComesBeforeTheTakeover(On database)
            throws Exception {
        String resource = "frozen-" + database;
        createWritten(database);
        Process process = startGuarded(database, resource);
        try (BufferedReader said = reader(process);
                PrintStream commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
                JdbcStore store = Stores.open(database.patientUrl());
                LockFactory locks = new LockFactory(store)) {
            assertThat(said.readLine()).isEqualTo("guarded");
            signal("STOP", process);
            Task<Lock> taking = Task.start(() -> locks.createLock(resource).acquire());
            awaitLeaseOver(database);
            assertThat(taking.isDone()).isFalse();
            assertThat(written(database, resource)).isZero();

            signal("CONT", process);
            commands.println("go on");

            assertThat(said.readLine()).isEqualTo("committed");
            assertThat(taking.result().isAcquired()).isTrue();
            assertThat(written(database, resource)).isEqualTo(1);
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void givenGuardedAndFrozen_whenKilled_thenItsWriteIsUndoneAndTheLockTakenOver(On database) throws Exception {
        String resource = "killed-" + database;
        createWritten(database);
        Process process = startGuarded(database, resource);
        try (BufferedReader said = reader(process);
                JdbcStore store = Stores.open(database.patientUrl());
                LockFactory locks = new LockFactory(store)) {
            assertThat(said.readLine()).isEqualTo("guarded");
            signal("STOP", process);
            Task<Lock> taking = Task.start(() -> locks.createLock(resource).acquire());
            awaitLeaseOver(database);
            assertThat(taking.isDone()).isFalse();

            signal("KILL", process);

            assertThat(taking.result().isAcquired()).isTrue();
            assertThat(written(database, resource)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void givenGuarded_whenItLastsLongerThanARivalsSocketTimeout_thenFailureAndNoConflict(On database) throws Exception {
        String resource = "long-" + database;
        try (JdbcStore store = Stores.open(database.url());
                LockFactory locks = new LockFactory(store);
                JdbcStore impatient = Stores.open(database.impatientUrl());
                LockFactory others = new LockFactory(impatient);
                Connection connection = database.transaction()) {
            Lock lock = locks.createLock(resource).acquire();
            store.guard(connection, lock.key());

            assertThatThrownBy(() -> others.createLock(resource).tryAcquire()).isInstanceOf(LockStorageException.class);

            connection.commit();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    /** One that is taken now for the TTL of the guarded one ends later. */
    private static void awaitLeaseOver(On database) throws InterruptedException {
        try (JdbcStore store = Stores.open(database.url());
                LockFactory locks = new LockFactory(store)) {
            Lock later = locks.createLock("later-" + database, GUARDED_TTL).acquire();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !later.isAcquired());
        }
    }

    private static void createWritten(On database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database.url());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS written (resource varchar(100) NOT NULL)");
        }
    }

    private static int written(On database, String resource) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database.url());
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT count(*) FROM written WHERE resource = '" + resource + "'")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static Process startGuarded(On database, String resource) throws Exception {
        return start(
                GuardedHolder.class, database.url(), database.url(), resource, Long.toString(GUARDED_TTL.toSeconds()));
    }

    private static BufferedReader reader(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void write(String url, Lock lock) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate("UPDATE account SET balance = 42");
            new FencingGuard().check(connection, "account", lock.fencingToken().orElseThrow());
            connection.commit();
        }
    }

    private static int balance(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT balance FROM account")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static Process start(Class<?> main, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(main.getName()));
        command.addAll(List.of(arguments));
        return ChildJvm.of("guarded").start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT));
    }

    private static void signal(String name, Process process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** The key of a lock whose lease has ended in the database. */
    private static Key overdue(JdbcStore store, LockFactory locks, String resource) throws InterruptedException {
        Key key = locks.createLock(resource).acquire().key();
        // Not by the Lock, which fails if it is told later than that.
        granted(store.refresh(exclusive(key, Duration.ofMillis(3)).with(LeaseChange.SET)));
        locks.createLock(resource).acquire().release();
        return key;
    }
}

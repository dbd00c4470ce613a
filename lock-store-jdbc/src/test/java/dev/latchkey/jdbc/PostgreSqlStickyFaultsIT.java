package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky lock on PostgreSQL whose recall goes wrong, or whose process or server does. */
class PostgreSqlStickyFaultsIT {

    /** Longer than any of these tests waits, so that nothing here ends by time. */
    private static final Duration LONG_TTL = TimeLimits.LIMIT.multipliedBy(5);

    private static final Duration STICKY = TimeLimits.LIMIT.multipliedBy(5);

    /** Counts what was recalled so long ago that nobody waits for its holder to answer any more: 50 ms. */
    private static final String RECALLS_IN_VAIN =
            "SELECT count(*) FROM latchkey_lock WHERE CAST(substring(holder FROM '[0-9]+$') AS bigint)"
                    + " BETWEEN 1 AND date_part('epoch', clock_timestamp()) * 1000000 - 50000";

    private static final String WITHOUT_MARK = "SELECT count(*) FROM latchkey_lock WHERE promoter = '-'";

    /** Of those who wait and are not told, none asks before 15 s are over. */
    private static final Duration SOONER_THAN_ASKED = Duration.ofSeconds(15);

    private static final String RESOURCE = "report";

    private PostgresServer server;
    private FaultProxy proxy;
    private LockFactory locks;
    private LockFactory rivals;

    @BeforeEach
    void connect() {
        server = PostgresServer.start();
        proxy = FaultProxy.to(server.address());
        locks = LockFactory.connect(PostgresServer.dsn(proxy.address()));
        rivals = LockFactory.connect(server.dsn());
    }

    @AfterEach
    void end() {
        proxy.heal();
        locks.close();
        rivals.close();
        proxy.close();
        server.close();
    }

    private static Lock sticky(LockFactory factory) {
        return factory.lock(RESOURCE).ttl(LONG_TTL).sticky(STICKY).create();
    }

    /** Acquires and releases until it is kept, and returns the token of that hold. */
    private long kept(Lock lock) {
        return kept(lock, RESOURCE);
    }

    private long kept(Lock lock, String resource) {
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> cycle(lock), unused -> !rivals.holders(resource).isEmpty());
    }

    private static long cycle(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    private void execute(String statement) throws SQLException {
        try (Connection connection = server.connect();
                Statement run = connection.createStatement()) {
            run.execute(statement);
        }
    }

    private long number(String query) throws SQLException {
        try (Connection connection = server.connect();
                Statement run = connection.createStatement();
                ResultSet row = run.executeQuery(query)) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }

    private void recall() throws SQLException {
        execute("SELECT pg_notify('latchkey_lock', '~" + RESOURCE + "')");
    }

    private void awaitNobodyHolds() {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(() -> rivals.holders(RESOURCE).isEmpty());
    }

    private void checkAftermath(long lastToken) {
        Lock last = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(last.tryAcquire()).isTrue();
        assertThat(last.fencingToken().orElseThrow()).isGreaterThan(lastToken);
        assertThat(last.release()).isTrue();
        assertThat(rivals.holders(RESOURCE)).isEmpty();
    }

    @Test
    void givenKept_whenTheRecallIsLost_thenTheNextOneIsHeard() throws Exception {
        long token = kept(sticky(locks));
        CompletableFuture<Void> dropped = proxy.dropMessage("~" + RESOURCE);
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);

        assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(dropped).isCompleted();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(rival.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenKept_whenTheRecallIsLate_thenWhoTriesIsRefusedAndWhoWaitsIsNot() throws Exception {
        long token = kept(sticky(locks));
        assertThat(rivals.createLock("warm-up").tryAcquire()).isTrue();
        proxy.silence();
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);

        assertThat(rival.tryAcquire()).isFalse();
        proxy.heal();
        assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(rival.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenInUse_whenTheRecallIsDoubled_thenItIsHeldUntilTheReleaseWhichIsReal() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);
        assertThat(lock.tryAcquire()).isTrue();
        long again = lock.fencingToken().orElseThrow();
        assertThat(again).isGreaterThan(token);
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        BackgroundCall<Boolean> wait = BackgroundCall.start(() -> rival.tryAcquire(TimeLimits.LIMIT));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> number("SELECT sum(waited) FROM latchkey_lock") == 1);
        recall();
        recall();

        assertThat(lock.isAcquired()).isTrue();
        assertThat(wait.isDone()).isFalse();
        assertThat(lock.release()).isTrue();

        assertThat(wait.result()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(again);
        assertThat(rival.release()).isTrue();
        checkAftermath(again);
    }

    /** The holder has had the time to answer: nobody waits for that again. */
    @Test
    void givenInUseAndRecalled_whenARivalTriesLater_thenTheStoreTellsItNotToWait() throws Exception {
        Lock lock = sticky(locks);
        assertThat(lock.tryAcquire()).isTrue();

        // The row shows the recall once a call has asked a second time, for which its 50 ms may have been too short.
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> {
            assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquire()).isFalse();
            return number(RECALLS_IN_VAIN) == 1;
        });
        long before = number("SELECT waited + version FROM latchkey_lock WHERE resource = '" + RESOURCE + "'");

        assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquire()).isFalse();

        assertThat(number("SELECT waited + version FROM latchkey_lock WHERE resource = '" + RESOURCE + "'"))
                .as("who waits for the recall marks the row")
                .isEqualTo(before);
        assertThat(lock.release()).isTrue();
    }

    @Test
    void givenInUseAndRecalled_whenARivalTriesItWithAnother_thenTheStoreTellsItNotToWait() throws Exception {
        Lock lock = sticky(locks);
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(withAnother().tryAcquire()).isFalse();

        assertThat(number("SELECT count(*) FROM latchkey_lock WHERE holder LIKE '%|~1%'"))
                .as("the row shows when it was recalled, by which later attempts go")
                .isEqualTo(1);
        long before = number("SELECT version FROM latchkey_lock WHERE resource = '" + RESOURCE + "'");
        assertThat(withAnother().tryAcquire()).isFalse();
        assertThat(number("SELECT version FROM latchkey_lock WHERE resource = '" + RESOURCE + "'"))
                .isEqualTo(before);
        assertThat(lock.release()).isTrue();
    }

    private Lock withAnother() {
        return rivals.all(List.of(RESOURCE, "another")).ttl(LONG_TTL).create();
    }

    /** It is a hint: it costs a request, and nothing else. */
    @Test
    void givenKept_whenRecalledForNobody_thenItIsGivenBackAndAcquiredAnew() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        recall();

        awaitNobodyHolds();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(lock.release()).isTrue();
    }

    @Test
    void givenKept_whenMessagesComeThatNobodyUnderstands_thenItIsKept() throws Exception {
        try (JdbcStore store = Stores.open(server.dsn());
                LockFactory here = new LockFactory(store)) {
            Lock lock = sticky(here);
            long token = kept(lock);

            execute("SELECT pg_notify('latchkey_lock', text) FROM unnest(ARRAY['', '~', '!', '!x report', '!1',"
                    + " '~other', '!1 report', '!999999999999999999 report']) AS text");

            awaitHeard(store);
            assertThat(cycle(lock)).as("the next one of the same hold").isEqualTo(token + 1);
            assertThat(rivals.holders(RESOURCE)).hasSize(1);
        }
    }

    /** No recall can be heard meanwhile, so what is kept is given back. */
    @Test
    void givenKept_whenTheConnectionsAreCut_thenItIsGivenBack() {
        Lock lock = sticky(locks);
        long token = kept(lock);

        proxy.cut();

        awaitNobodyHolds();
        checkAftermath(token);
    }

    @Test
    void givenKept_whenTheListeningSessionIsEnded_thenItIsGivenBackAndKeptAgainLater() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        // After some silence, the last statement is an empty one, which a backend that has just started shows as well.
        execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                + " AND (query LIKE 'LISTEN %' OR (query = '' AND query_start IS NOT NULL))");

        awaitNobodyHolds();
        assertThat(kept(lock)).isGreaterThan(token);
    }

    @Test
    void givenForcedWhileKept_whenAcquiredHere_thenTheTokenIsGreaterThanThatOfTheRivalBetween() {
        Lock lock = sticky(locks);
        long token = kept(lock);
        long used = kept(lock);
        long shown = rivals.holders(RESOURCE).get(0).fencingToken().orElseThrow();

        assertThat(rivals.forceRelease(RESOURCE, shown)).isTrue();

        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(rival.tryAcquire()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(used).isGreaterThan(token);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !lock.tryAcquire());
        assertThat(rival.release()).isTrue();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::tryAcquire);
        long last = lock.fencingToken().orElseThrow();
        assertThat(last).isGreaterThan(used);
        lock.release();
    }

    @Test
    void givenForcedWhileInUse_whenTold_thenItsHolderKnowsBeforeItAsks() throws Exception {
        CompletableFuture<LossReason> lost = new CompletableFuture<>();
        Lock lock = locks.lock(RESOURCE)
                .ttl(LONG_TTL)
                .sticky(STICKY)
                .onLost(lost::complete)
                .create();
        kept(lock);
        assertThat(lock.tryAcquire()).isTrue();
        long shown = rivals.holders(RESOURCE).get(0).fencingToken().orElseThrow();

        assertThat(rivals.forceRelease(RESOURCE, shown)).isTrue();

        assertThat(lost.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
    }

    /** Both notify on the same channel, and the ranges of their fencing tokens may overlap. */
    @Test
    void givenATableOfTheSameNameInAnotherSchema_whenItsHoldIsForced_thenThisHolderIsNotTold() throws Exception {
        execute("CREATE SCHEMA tenant");
        try (JdbcStore store = Stores.open(server.dsn());
                LockFactory here = new LockFactory(store);
                LockFactory there = LockFactory.connect(server.jdbcUrl() + "&currentSchema=tenant")) {
            Lock lock = sticky(here);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(sticky(there).tryAcquire()).isTrue();
            execute("UPDATE tenant.latchkey_lock SET fencing_token = mine.fencing_token,"
                    + " promoter_until = mine.promoter_until FROM public.latchkey_lock AS mine"
                    + " WHERE latchkey_lock.resource = mine.resource");

            assertThat(there.forceRelease(RESOURCE, lock.fencingToken().orElseThrow()))
                    .isTrue();

            awaitHeard(store);
            assertThat(lock.isExpired()).isFalse();
            assertThat(lock.release()).isTrue();
        }
    }

    /** PostgreSQL takes it for the same table, and the name of a channel as it stands. */
    @Test
    void givenAProcessNamesTheTableInCapitals_whenARivalDoesNot_thenTheRecallIsHeard() throws Exception {
        try (JdbcStore store = Pools.open(Dsn.parse(server.dsn()), builder -> builder.table("Latchkey_LOCK"));
                LockFactory here = new LockFactory(store)) {
            long token = kept(sticky(here));
            Lock rival = rivals.createLock(RESOURCE, LONG_TTL);

            assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
            assertThat(rival.release()).isTrue();
        }
    }

    /** The request is sent again, and the recall was heard before. */
    @Test
    void givenTheGrantIsNotAnswered_whenARivalWasRefusedMeanwhile_thenItIsNotKept() throws Exception {
        // A statement that the driver has prepared is not sent as a text, which the proxy goes by. And the driver has
        // to wait until the reply is lost: after a limit of its own, the request is not sent again.
        String options = "?prepareThreshold=0&socketTimeout=" + TimeLimits.LIMIT.toSeconds();
        try (JdbcStore store = Stores.open(PostgresServer.dsn(proxy.address()) + options);
                LockFactory here = new LockFactory(store)) {
            kept(here.lock("other").ttl(LONG_TTL).sticky(STICKY).create(), "other");
            // In the thread that is about to break the connection: the server has granted, and nobody here knows.
            CompletableFuture<Void> recalled =
                    proxy.loseReplyTo("RETURNING promoter_until").thenRun(() -> refuseARival(store));
            Lock lock = sticky(here);

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(recalled).isCompleted();
            assertThat(lock.release()).isTrue();
            assertThat(rivals.holders(RESOURCE)).isEmpty();
        }
    }

    private void refuseARival(JdbcStore heardBy) {
        assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquire()).isFalse();
        try {
            awaitHeard(heardBy);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Messages arrive in the order in which they were sent. What came with the first marker is done by the second. */
    private void awaitHeard(JdbcStore store) throws Exception {
        try (ReleaseSubscription marker = store.watch("marker")) {
            for (int i = 0; i < 2; i++) {
                CompletionStage<?> heard = marker.next();
                execute("SELECT pg_notify('latchkey_lock', 'marker')");
                heard.toCompletableFuture().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    /** The rival has it by the time the release is sent again, which could not tell who has ended the hold. */
    @Test
    void givenARivalWaits_whenTheReleaseIsNotAnswered_thenItIsNotSaidThatTheHoldWasLost() throws Exception {
        Lock lock = sticky(locks);
        assertThat(lock.tryAcquire()).isTrue();
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        BackgroundCall<Boolean> wait = BackgroundCall.start(() -> rival.tryAcquire(TimeLimits.LIMIT));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> number("SELECT sum(waited) FROM latchkey_lock") == 1);
        CompletableFuture<Void> lost = proxy.loseReplyTo("promoter_until = 0, token = '-'");

        String answer = answerOf(lock);

        // The recall may have been heard only after the release: then it is what has ended the hold.
        assertThat(lost).succeedsWithin(TimeLimits.LIMIT);
        assertThat(answer).as("the hold lasted until its release").isNotEqualTo("was lost");
        assertThat(wait.result()).isTrue();
        assertThat(rival.isAcquired()).isTrue();
        assertThat(rival.release()).isTrue();
    }

    private static String answerOf(Lock released) {
        try {
            return released.release() ? "was held" : "was lost";
        } catch (LockStorageException e) {
            return "not known";
        }
    }

    @Test
    void givenKept_whenTheServerIsKilledAndStarted_thenItIsFreeSoonAndTokensGrow() {
        Lock lock = sticky(locks);
        long token = kept(lock);

        server.kill();
        server.restart();

        awaitNobodyHolds();
        checkAftermath(token);
    }

    private Lock waitsToPromote(Lock reader) throws Exception {
        assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquireShared()).isTrue();
        assertThat(reader.tryAcquireShared()).isTrue();
        return reader;
    }

    /** The mark keeps readers out for three seconds more, and nobody tells them when it has lapsed. */
    @Test
    void givenAReaderWaitsToPromote_whenItIsInterrupted_thenNoMarkIsLeftAndReadersAreTold() throws Exception {
        Lock reader = waitsToPromote(sticky(locks));
        BackgroundCall<Boolean> promotion = BackgroundCall.start(() -> reader.tryAcquire(LONG_TTL));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> number(WITHOUT_MARK) == 0);
        Lock next = rivals.createLock(RESOURCE, LONG_TTL);
        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> next.tryAcquireShared(TimeLimits.LIMIT));
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> number("SELECT sum(waited) FROM latchkey_lock") == 1);

        promotion.interrupt();

        assertThatThrownBy(promotion::result).isInstanceOf(InterruptedException.class);
        assertThat(number(WITHOUT_MARK)).isEqualTo(1);
        assertThat(waiting.result()).isTrue();
        assertThat(reader.isAcquired()).isTrue();
        assertThat(reader.release()).isTrue();
    }

    /** Its process was killed, or could not reach the server any more. */
    @Test
    void givenAPromoterIsGone_whenItsMarkHasLapsed_thenAReaderThatWaitsIsGranted() throws Exception {
        Lock reader = waitsToPromote(rivals.createLock(RESOURCE, LONG_TTL));
        execute("UPDATE latchkey_lock SET promoter = 'gone', promoter_until ="
                + " CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) + 3000000");
        long start = System.nanoTime();
        Lock next = locks.createLock(RESOURCE, LONG_TTL);

        assertThat(next.tryAcquireShared(TimeLimits.LIMIT)).isTrue();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOONER_THAN_ASKED);
        assertThat(reader.isAcquired()).isTrue();
    }

    /** The connection is gone in the middle of what it has told. */
    @Test
    void givenTwoForcedInOneTransaction_whenTheFirstCannotBeLookedAt_thenBothHoldersAreTold() throws Exception {
        CompletableFuture<LossReason> first = new CompletableFuture<>();
        CompletableFuture<LossReason> second = new CompletableFuture<>();
        Lock one = lostTo(first, RESOURCE);
        Lock two = lostTo(second, "second");
        CompletableFuture<Void> cut = proxy.loseRequest("SELECT held.*");

        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("UPDATE latchkey_lock SET token = '-', holder = '-', expires_at = 0");
            statement.execute(forced(one, RESOURCE));
            statement.execute(forced(two, "second"));
            connection.commit();
        }

        assertThat(cut).succeedsWithin(TimeLimits.LIMIT);
        assertThat(first).succeedsWithin(TimeLimits.LIMIT).isEqualTo(LossReason.FORCED);
        assertThat(second).succeedsWithin(TimeLimits.LIMIT).isEqualTo(LossReason.FORCED);
    }

    /** The one release that the server does not answer takes ten seconds; the rest of what was kept is left to its leases. */
    @Test
    void givenManyAreKept_whenTheServerFallsSilent_thenCloseIsNotHeldUpByEach() {
        for (int i = 0; i < 20; i++) {
            String resource = "kept " + i;
            kept(locks.lock(resource).ttl(LONG_TTL).sticky(STICKY).create(), resource);
        }
        proxy.silence();
        long start = System.nanoTime();

        locks.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeLimits.scaled(Duration.ofSeconds(30)));
    }

    private static String forced(Lock lock, String resource) {
        return "SELECT pg_notify('latchkey_lock', '!" + lock.fencingToken().orElseThrow() + " " + resource + "')";
    }

    private Lock lostTo(CompletableFuture<LossReason> told, String resource) {
        Lock lock = locks.lock(resource)
                .ttl(LONG_TTL)
                .sticky(STICKY)
                .onLost(told::complete)
                .create();
        // Only a store that listens by then hears of the end, and one that was short of connections does so later.
        kept(lock, resource);
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }
}

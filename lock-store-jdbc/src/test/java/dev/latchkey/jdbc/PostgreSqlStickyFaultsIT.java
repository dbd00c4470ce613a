package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
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

    private static final Duration STICKY = TimeLimits.LIMIT.multipliedBy(2);
    private static final Duration LONG_TTL = Fixture.LONG_TTL;
    private static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofMillis(1_500));
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
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> cycle(lock), unused -> !rivals.holders(RESOURCE).isEmpty());
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
        Lock last = rivals.createLock(RESOURCE, SHORT_TTL);
        assertThat(last.tryAcquire()).isTrue();
        assertThat(last.fencingToken().orElseThrow()).isGreaterThan(lastToken);
        assertThat(last.release()).isTrue();
        assertThat(rivals.holders(RESOURCE)).isEmpty();
    }

    @Test
    void givenKept_whenTheRecallIsLost_thenTheNextOneIsHeard() throws Exception {
        long token = kept(sticky(locks));
        CompletableFuture<Void> dropped = proxy.dropMessage("~" + RESOURCE);
        Lock rival = rivals.createLock(RESOURCE, SHORT_TTL);

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
        proxy.delay(Duration.ofSeconds(1));
        Lock rival = rivals.createLock(RESOURCE, SHORT_TTL);

        assertThat(rival.tryAcquire()).isFalse();
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
        Lock rival = rivals.createLock(RESOURCE, SHORT_TTL);
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
        assertThat(rivals.createLock(RESOURCE, SHORT_TTL).tryAcquire()).isFalse();

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> number("SELECT count(*) FROM latchkey_lock WHERE holder LIKE '%|~1%'") == 1);
        long before = number("SELECT waited + version FROM latchkey_lock WHERE resource = '" + RESOURCE + "'");

        assertThat(rivals.createLock(RESOURCE, SHORT_TTL).tryAcquire()).isFalse();

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
        return rivals.all(List.of(RESOURCE, "another")).ttl(SHORT_TTL).create();
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
        Lock lock = sticky(locks);
        kept(lock);

        execute("SELECT pg_notify('latchkey_lock', text) FROM unnest(ARRAY['', '~', '!', '!x report', '!1', '~other',"
                + " '!1 report', '!999999999999999999 report']) AS text");
        execute("SELECT pg_notify('latchkey_lock', '~marker')");

        assertThat(cycle(lock)).isPositive();
        assertThat(rivals.holders(RESOURCE)).hasSize(1);
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

        execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'");

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

        Lock rival = rivals.createLock(RESOURCE, SHORT_TTL);
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

    /** Messages arrive in the order in which they were sent. */
    private void awaitHeard(JdbcStore store) throws Exception {
        try (ReleaseSubscription marker = store.watch("marker")) {
            CompletionStage<?> heard = marker.next();
            execute("SELECT pg_notify('latchkey_lock', 'marker')");
            heard.toCompletableFuture().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
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

        assertThat(lost).isCompleted();
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

    /** Its tokens are not known: the next one is greater than all that it may have used. */
    @Test
    void givenKept_whenTheProcessIsKilled_thenARivalGetsItWhenTheLeaseIsOver() throws Exception {
        try (SecondProcess holding = SecondProcess.connect(server.dsn())) {
            long used = kept(holding.stickyLock(RESOURCE, SHORT_TTL, SHORT_TTL));
            holding.kill();
            Lock rival = rivals.createLock(RESOURCE, SHORT_TTL);

            assertThat(rival.tryAcquire(SHORT_TTL.multipliedBy(2).plus(TimeLimits.LIMIT)))
                    .isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(used);
            assertThat(rival.release()).isTrue();
            checkAftermath(used);
        }
    }

    @Test
    void givenKept_whenTheProcessIsFrozenUntilItsLeaseIsOver_thenItDoesNotHoldWhenItGoesOn() throws Exception {
        try (SecondProcess holding = SecondProcess.connect(server.dsn())) {
            RemoteLock holder = holding.stickyLock(RESOURCE, SHORT_TTL, SHORT_TTL);
            long used = kept(holder);
            holding.freeze();
            Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
            assertThat(rival.tryAcquire(SHORT_TTL.multipliedBy(2).plus(TimeLimits.LIMIT)))
                    .isTrue();
            long next = rival.fencingToken().orElseThrow();
            assertThat(next).isGreaterThan(used);

            holding.thaw();

            assertThat(holder.tryAcquire()).isFalse();
            assertThat(rival.isAcquired()).isTrue();
            assertThat(rival.release()).isTrue();
            assertThat(holder.startAcquire(TimeLimits.LIMIT).isYes()).isTrue();
            assertThat(holder.fencingToken().orElseThrow()).isGreaterThan(next);
            assertThat(holder.release()).isTrue();
        }
    }

    private static long kept(RemoteLock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }
}

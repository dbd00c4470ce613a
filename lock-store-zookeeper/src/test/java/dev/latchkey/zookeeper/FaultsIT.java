package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that break, networks that go silent, and sessions that end. */
class FaultsIT extends BehindAProxy {

    private static final String SHORT_SESSION = "?sessionTimeout=6000";

    private ZooKeeperStore direct;
    private LockFactory rivals;

    FaultsIT() {
        super(SHORT_SESSION);
    }

    @BeforeEach
    void connectRivals() {
        direct = Stores.open(server.address(), SHORT_SESSION);
        rivals = new LockFactory(direct);
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void endRivals() {
        rivals.close();
        direct.close();
    }

    @Test
    void givenHeld_whenTheConnectionIsCut_thenHeldStillWithTheSameToken() {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("cut", TTL);
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();
        var token = lock.fencingToken();

        proxy.cut();

        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.fencingToken()).isEqualTo(token);
        assertThat(rivals.createLock("cut").tryAcquire()).isFalse();
        assertThat(told).isEmpty();
        assertThat(lock.release()).isTrue();
        assertThat(rivals.createLock("cut").tryAcquire()).isTrue();
    }

    @Test
    void givenTheReplyToCreateIsLost_whenTried_thenItsNodeIsFoundAgainAndUsed() throws Exception {
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/lost-reply/");
        Lock lock = locks.createLock("lost-reply", TTL);

        // The first creation finds no parent: its reply is the one that is lost.
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-reply")).hasSize(1);
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(nodes.line("lost-reply")).isEmpty();
    }

    @Test
    void givenALineAndTheReplyToCreateIsLost_whenTried_thenItsNodeIsFoundAgainAndUsed() throws Exception {
        Lock before = rivals.createLock("found-again", TTL);
        assertThat(before.tryAcquireShared()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/found-again/");
        Lock lock = locks.createLock("found-again", TTL);

        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("found-again")).hasSize(2);
        assertThat(lock.release()).isTrue();
        assertThat(nodes.line("found-again")).hasSize(1);
    }

    @Test
    void givenTheRequestToCreateIsLost_whenTried_thenItIsMadeOnce() throws Exception {
        assertThat(rivals.createLock("lost-request", TTL).tryAcquireShared()).isTrue();
        CompletableFuture<Void> lost = proxy.loseRequest("/latchkey/lost-request/");
        Lock lock = locks.createLock("lost-request", TTL);

        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-request")).hasSize(2);
    }

    @Test
    void givenTheReplyToDeleteIsLost_whenReleased_thenTrueAndFree() throws Exception {
        Lock lock = locks.createLock("lost-delete", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/lost-delete/");

        assertThat(lock.release()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-delete")).isEmpty();
    }

    @Test
    void givenWaiting_whenTheConnectionIsCut_thenItKeepsItsPlaceAndIsGranted() throws Exception {
        Lock holder = rivals.createLock("place", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "place", 2);
        List<String> line = nodes.line("place");

        proxy.cut();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 1);

        assertThat(nodes.line("place")).hasSameElementsAs(line);
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenWaiting_whenTheHolderGoesWhileWeAreCutOff_thenGrantedAfterwards() throws Exception {
        Lock holder = rivals.createLock("meanwhile", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "meanwhile", 2);
        proxy.refuse();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);

        assertThat(holder.release()).isTrue();
        proxy.heal();

        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenInterruptedWhileCutOff_whenConnectedAgain_thenNothingIsLeftInLine() throws Exception {
        Lock holder = rivals.createLock("left", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "left", 2);
        proxy.refuse();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);

        waiting.interrupt();
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        proxy.heal();

        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("left")).hasSize(1));
    }

    @Test
    void givenHeld_whenTheNetworkIsSilent_thenTheHolderKnowsBeforeARivalHolds() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("silent", TTL);
        lock.onLost(reason -> events.add("lost " + reason));
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        BackgroundCall<Lock> rival = waiting(rivals, "silent", 2);

        proxy.silence();
        Lock taken = rival.result();
        events.add("rival holds");

        Awaitility.await().atMost(LIMIT).untilAsserted(() -> assertThat(events).hasSize(2));
        assertThat(events).containsExactly("lost SESSION_LOST", "rival holds");
        assertThat(lock.isExpired()).isTrue();
        assertThat(taken.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** B9: the thread that proves the session is the only one that tells of its loss. Where memory is short, a log line fails, too. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenABeatThrewAnError_whenTheNetworkIsSilent_thenTheHolderIsToldStill() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 10_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                if (fails.compareAndSet(true, false)) {
                    throw new OutOfMemoryError("planted") {
                        @Override
                        public String getMessage() {
                            throw new OutOfMemoryError("planted as well");
                        }
                    };
                }
                super.multi(operations, callback, context);
            }
        };
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            Lock lock = new LockFactory(lent).createLock("beat", TTL);
            CompletableFuture<LossReason> told = new CompletableFuture<>();
            lock.onLost(told::complete);
            assertThat(lock.tryAcquire()).isTrue();
            fails.set(true);
            Awaitility.await().atMost(LIMIT).until(() -> !fails.get());

            proxy.silence();

            Awaitility.await().atMost(LIMIT).until(told::isDone);
            assertThat(told).isCompletedWithValue(LossReason.SESSION_LOST);
        } finally {
            proxy.heal();
            client.close();
        }
    }

    /** As above, and nothing can be logged any more. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenBeatsThrowAndSoDoesTheLog_whenTheNetworkIsSilent_thenTheHolderIsToldStill() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 10_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                if (fails.compareAndSet(true, false)) {
                    throw new OutOfMemoryError("planted");
                }
                super.multi(operations, callback, context);
            }
        };
        PrintStream before = System.err;
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            Lock lock = new LockFactory(lent).createLock("beat", TTL);
            CompletableFuture<LossReason> told = new CompletableFuture<>();
            lock.onLost(told::complete);
            assertThat(lock.tryAcquire()).isTrue();
            System.setErr(new PrintStream(before, true, StandardCharsets.UTF_8) {
                @Override
                public void println(String line) {
                    if (line.contains("lock.beat-failed")) {
                        throw new OutOfMemoryError("planted as well");
                    }
                    super.println(line);
                }
            });
            fails.set(true);
            Awaitility.await().atMost(LIMIT).until(() -> !fails.get());

            proxy.silence();

            Awaitility.await().atMost(LIMIT).until(told::isDone);
            assertThat(told).isCompletedWithValue(LossReason.SESSION_LOST);
        } finally {
            System.setErr(before);
            proxy.heal();
            client.close();
        }
    }

    /** The client catches what its callbacks throw, and calls none of them twice. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenAnAnswerToABeatWasDropped_whenTheNextAreDue_thenHeldStill() throws Exception {
        AtomicInteger beats = new AtomicInteger();
        ZooKeeper client = new ZooKeeper(server.address().toString(), 10_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                super.multi(
                        operations,
                        beats.incrementAndGet() == 2 ? (code, path, same, results) -> {} : callback,
                        context);
            }
        };
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock lock = new LockFactory(lent).createLock("dropped", TTL);
            lock.onLost(told::add);
            assertThat(lock.tryAcquire()).isTrue();

            Awaitility.await().atMost(LIMIT).until(() -> beats.get() >= 5 || !told.isEmpty());

            assertThat(told).isEmpty();
            assertThat(lock.isAcquired()).isTrue();
        } finally {
            client.close();
        }
    }

    @Test
    void givenLostInSilence_whenConnectedAgain_thenANewSessionAndANewHold() {
        Lock lock = locks.createLock("anew", TTL);
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        lock.onLost(told::complete);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        proxy.silence();
        Awaitility.await().atMost(LIMIT).until(told::isDone);
        proxy.heal();

        Awaitility.await().atMost(LIMIT).ignoreExceptions().until(lock::tryAcquire);

        assertThat(told.join()).isEqualTo(LossReason.SESSION_LOST);
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenHeld_whenTheSessionExpires_thenLostOnceAndNothingOfItIsBelieved() throws Exception {
        List<LossReason> told = new CopyOnWriteArrayList<>();
        Lock lock = locks.createLock("expired", TTL);
        lock.onLost(told::add);
        assertThat(lock.tryAcquire()).isTrue();

        expire(store);

        Awaitility.await().atMost(LIMIT).untilAsserted(() -> assertThat(told).containsExactly(LossReason.SESSION_LOST));
        assertThat(lock.isAcquired()).isFalse();
        assertThatThrownBy(lock::refresh).isInstanceOfAny(LockLostException.class, IllegalStateException.class);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(rivals.createLock("expired").tryAcquire()).isTrue());
        assertThat(told).hasSize(1);
    }

    @Test
    void givenWaiting_whenTheSessionExpires_thenItStandsInLineAgain() throws Exception {
        Lock holder = rivals.createLock("again", TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = waiting(locks, "again", 2);
        List<String> before = nodes.line("again");

        expire(store);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("again")).hasSize(2).isNotEqualTo(before));

        assertThat(holder.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenAReaderWaitsToPromote_whenTheSessionExpires_thenLost() throws Exception {
        // Kept: a hold that nobody can give up any more is given up by the collector.
        Lock reader = rivals.createLock("promoting", TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        Lock promoter = locks.createLock("promoting", TTL);
        assertThat(promoter.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = BackgroundCall.start(promoter::acquire);
        awaitLine("promoting", 3);

        expire(store);

        assertThatThrownBy(waiting::result).isInstanceOf(LockLostException.class);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("promoting")).hasSize(1));
        assertThat(reader.release()).isTrue();
    }

    @Test
    void givenNoServer_whenTried_thenAFailureAndNoConflict() {
        proxy.refuse();

        assertThatThrownBy(() -> locks.createLock("nobody").tryAcquire())
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("nobody")
                .hasMessageContaining("no ZooKeeper server answered");
    }

    @Test
    void givenHolderIsFrozenLongerThanItsSession_whenARivalTakes_thenItsTokenIsGreaterAndTheHolderLearnsIt()
            throws Exception {
        String dsn = server.dsn() + "?sessionTimeout=3000";
        try (SecondProcess other = SecondProcess.connect(dsn)) {
            RemoteLock frozen = other.lock("frozen", TTL);
            assertThat(frozen.tryAcquire()).isTrue();
            long token = frozen.fencingToken().orElseThrow();
            BackgroundCall<Lock> rival = waiting(rivals, "frozen", 2);

            other.freeze();
            Lock taken = rival.result();
            other.thaw();

            assertThat(taken.fencingToken().orElseThrow()).isGreaterThan(token);
            Awaitility.await().atMost(LIMIT).until(() -> !frozen.isAcquired());
            assertThat(taken.isAcquired()).isTrue();
        }
    }

    /** Whether a server has heard of its session lately is not known: that is proven first, and nobody is told of it. */
    @Test
    void givenAProcessStoodStillWithNothingHeld_whenItAcquires_thenItHolds() {
        String dsn = server.dsn() + SHORT_SESSION;
        try (SecondProcess other = SecondProcess.connect(dsn)) {
            RemoteLock lock = other.lock("frozen", TTL);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();

            other.freeze();
            Awaitility.await().pollDelay(Duration.ofSeconds(4)).until(() -> true);
            other.thaw();

            assertThat(lock.tryAcquire()).isTrue();
            assertThat(rivals.createLock("frozen", TTL).tryAcquire()).isFalse();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenDeletedByAnAdministrator_whenAsked_thenLost() throws Exception {
        Lock lock = locks.createLock("deleted", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        nodes.client().delete("/latchkey/deleted/" + nodes.line("deleted").get(0), -1);

        assertThat(lock.isAcquired()).isFalse();

        assertThat(rivals.createLock("deleted").tryAcquire()).isTrue();
    }

    /** Ends a session as the servers do when they have not heard of it. */
    private static void expire(ZooKeeperStore store) throws Exception {
        Session session = store.sessions().forUse("any");
        var sameSession = new org.apache.zookeeper.ZooKeeper(
                server.address().toString(),
                6_000,
                event -> {},
                session.client().getSessionId(),
                session.client().getSessionPasswd());
        Awaitility.await().atMost(LIMIT).until(() -> sameSession.getState().isConnected());
        sameSession.close();
    }

    private BackgroundCall<Lock> waiting(LockFactory factory, String resource, int lengthThen) throws Exception {
        BackgroundCall<Lock> call = BackgroundCall.start(factory.createLock(resource, TTL)::acquire);
        awaitLine(resource, lengthThen);
        call.awaitWaiting();
        return call;
    }

    private void awaitLine(String resource, int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).hasSize(length));
    }
}

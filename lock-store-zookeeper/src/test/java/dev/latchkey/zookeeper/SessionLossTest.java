package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is lost when a session may have ended, and what is not. Its client says what a server would, at once. */
class SessionLossTest {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final int HOUR_MILLIS = 3_600_000;
    private static final NodeSettings SETTINGS =
            new NodeSettings(new Paths(ZooKeeperStore.DEFAULT_ROOT), ZooDefs.Ids.OPEN_ACL_UNSAFE);

    private Agreeable client;

    @BeforeEach
    void open() throws Exception {
        client = new Agreeable();
    }

    @AfterEach
    void close() throws Exception {
        client.close();
    }

    /** Whoever had found the end took what was carried after another had found it, too, and had had the session proven. */
    @Test
    void givenProvenAnewWhileHoldersAreTold_whenOthersAreCarriedThen_thenTheyAreKept() {
        Session session = heardOf(HOUR_MILLIS / 2);
        Hold first = carried(session);
        List<Hold> later = new ArrayList<>();
        first.whenLost(() -> runElsewhere(() -> {
            session.requests().commit("/").join();
            for (int i = 0; i < 256; i++) {
                later.add(carried(session));
            }
        }));
        client.grantedMillis = HOUR_MILLIS / 4;

        assertThat(session.isLive()).isFalse();

        assertThat(first.isLive()).isFalse();
        assertThat(later).hasSize(256).allMatch(Hold::isLive);
    }

    private static void runElsewhere(Runnable action) {
        try {
            BackgroundCall.start(() -> {
                        action.run();
                        return true;
                    })
                    .result();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A holder that looks by the clock, before a thread comes to tell it, saw its hold again. */
    @Test
    void givenTheSessionMayHaveEnded_whenProvenAnew_thenItsHoldsOfBeforeAreOverForEver() {
        Session session = heardOf(HOUR_MILLIS / 2);
        Lease before = carried(session).answer().lease();
        assertThat(before.isLive().getAsBoolean()).isTrue();
        client.grantedMillis = HOUR_MILLIS / 4;

        session.requests().commit("/").join();

        assertThat(session.isLive()).isTrue();
        assertThat(before.lost().orElseThrow().toCompletableFuture()).isCompletedWithValue(LossReason.SESSION_LOST);
        assertThat(before.isLive().getAsBoolean()).isFalse();
        assertThat(carried(session).answer().lease().isLive().getAsBoolean()).isTrue();
    }

    /** Granted before the end, and carried only once the session is proven anew, it would be over and nobody would say so. */
    @Test
    void givenTheSessionMayHaveEndedInBetween_whenCarried_thenRefused() {
        Session session = heardOf(HOUR_MILLIS / 2);
        Hold hold = hold(session);
        client.grantedMillis = HOUR_MILLIS / 4;
        session.requests().commit("/").join();

        assertThat(session.carry(hold)).isFalse();
    }

    /** The thread that tells looks seldom while nothing depends on the session, here after almost four minutes. */
    @Test
    @Tag("slow")
    void givenNothingWasHeld_whenGrantedShortlyBeforeTheEnd_thenTheHolderIsToldAtTheEnd() throws Exception {
        SessionProof proofs = SessionProof.none();
        Sessions sessions = new Sessions(new OfOneSession(client, proofs), SETTINGS);
        Session session = sessions.forUse("report");
        List<Thread> started = new CopyOnWriteArrayList<>();
        Heartbeat heartbeat = new Heartbeat(sessions, task -> {
            started.add(new Thread(task));
            return started.get(0);
        });
        try {
            heartbeat.needed("report");
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> started.get(0).getState().equals(Thread.State.TIMED_WAITING));
            long timeout = TimeUnit.MILLISECONDS.toNanos(HOUR_MILLIS);
            long now = System.nanoTime();
            proofs.add(
                    now,
                    now,
                    timeout,
                    timeout / 2 - TimeLimits.ttl(Duration.ofSeconds(5)).toNanos());
            client.isMute = true;
            Response granted = new Granter(sessions, new Holds(), heartbeat)
                    .grant(Requests.shared(Key.of("report")), place(session), 0, CallTimeout.uninterruptible(0));

            assertThat(((Response.Granted) granted).lease().lost().orElseThrow().toCompletableFuture())
                    .succeedsWithin(LIMIT)
                    .isEqualTo(LossReason.SESSION_LOST);
        } finally {
            heartbeat.close();
        }
    }

    /** The next proof was due a quarter after the answer, which was after the end. */
    @Test
    void givenTheFirstAnswerTookLong_whenBeaten_thenTheSessionIsProvenBeforeItsEnd() throws Exception {
        long timeout = TimeUnit.MILLISECONDS.toNanos(HOUR_MILLIS);
        SessionProof proofs = SessionProof.none();
        Session session = new Session(client, SETTINGS, proofs, new Freezes(System.nanoTime()));
        long now = System.nanoTime();
        proofs.add(now - timeout * 7 / 16, now, timeout, 0);
        carried(session);

        session.beat();

        assertThat(session.endNanos() - now).isGreaterThan(timeout / 4);
    }

    /** The session is still there, and with it the node: only the answer took longer than what one answer proves. */
    @Test
    void givenTheAnswerTookLongerThanItProves_whenGranted_thenTheSessionIsProvenAndItHolds() {
        SessionProof proofs = SessionProof.none();
        Sessions sessions = new Sessions(new OfOneSession(client, proofs), SETTINGS);
        Session session = sessions.forUse("report");
        assertThat(session.isLive()).isFalse();

        Response granted = new Granter(sessions, new Holds(), new Heartbeat(sessions))
                .grant(
                        Requests.shared(Key.of("report")),
                        place(session),
                        0,
                        CallTimeout.uninterruptible(LIMIT.toNanos()));

        assertThat(((Response.Granted) granted).lease().isLive().getAsBoolean()).isTrue();
    }

    /** Nobody knows of the node then: it would keep everybody out for as long as the session lasts. */
    @Test
    void givenGrantingFails_whenMemoryRunsOut_thenTheNodeIsDeleted() {
        Sessions sessions = new Sessions(new OfOneSession(client, SessionProof.none()), SETTINGS);
        QueueNode place = place(sessions.forUse("report"));
        Granter granter = new Granter(sessions, new Holds(), new Heartbeat(sessions));
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(LIMIT.toNanos());
        client.hasNoMemory = true;

        assertThatThrownBy(() -> granter.grant(Requests.shared(Key.of("report")), place, 0, limit))
                .isInstanceOf(OutOfMemoryError.class);

        assertThat(client.deleted).containsExactly(place.path());
    }

    /** The session may be there still: nobody has said that it ended. */
    @Test
    void givenNoServerAnswers_whenGranted_thenTheFailureDoesNotSayThatTheSessionHasEnded() {
        Sessions sessions = new Sessions(new OfOneSession(client, SessionProof.none()), SETTINGS);
        QueueNode place = place(sessions.forUse("report"));
        Granter granter = new Granter(sessions, new Holds(), new Heartbeat(sessions));
        client.isMute = true;

        assertThatThrownBy(() ->
                        granter.grant(Requests.shared(Key.of("report")), place, 0, CallTimeout.uninterruptible(1)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("no ZooKeeper server answered in time");
    }

    /** A client whose session is known as given. */
    private record OfOneSession(ZooKeeper next, SessionProof known) implements Clients {

        @Override
        public SessionProof proofs(long calledNanos) {
            return known;
        }

        @Override
        public void discard(Session session) {}

        @Override
        public void close(Session session) {}
    }

    private Session heardOf(long millisAgo) {
        long heard = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(millisAgo);
        return new Session(client, SETTINGS, SessionProof.ofNewSession(heard), new Freezes(System.nanoTime()));
    }

    private static Hold carried(Session session) {
        Hold hold = hold(session);
        assertThat(session.carry(hold)).isTrue();
        return hold;
    }

    private static Hold hold(Session session) {
        return new Hold(Requests.shared(Key.of("report")), place(session), OptionalLong.empty());
    }

    private static QueueNode place(Session session) {
        QueueNode place = new QueueNode(session, "report", "/latchkey/report", "id", NodeKind.READER);
        place.made(new dev.latchkey.zookeeper.Requests.Created("node", 1), 1);
        return place;
    }

    /** With no server: agrees to every transaction, until it is mute. */
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    private static final class Agreeable extends ZooKeeper {

        volatile int grantedMillis = HOUR_MILLIS;
        volatile boolean isMute;
        volatile boolean hasNoMemory;
        final List<String> deleted = new CopyOnWriteArrayList<>();

        Agreeable() throws IOException {
            super("127.0.0.1:1", HOUR_MILLIS, event -> {});
        }

        @Override
        public int getSessionTimeout() {
            return grantedMillis;
        }

        @Override
        public void delete(String path, int version, AsyncCallback.VoidCallback callback, Object context) {
            deleted.add(path);
            callback.processResult(0, path, context);
        }

        @Override
        public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
            if (hasNoMemory) {
                throw new OutOfMemoryError("planted");
            }
            if (!isMute) {
                callback.processResult(0, "/", context, List.of());
            }
        }
    }
}

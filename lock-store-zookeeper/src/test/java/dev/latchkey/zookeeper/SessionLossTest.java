package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.testkit.BackgroundCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is lost when a session may have ended, and what is not. Its client says what a server would, at once. */
class SessionLossTest {

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
        return new Hold(Key.of("report"), place(session), LockMode.SHARED, OptionalLong.empty());
    }

    private static QueueNode place(Session session) {
        QueueNode place = new QueueNode(session, "report", "/latchkey/report", "id", NodeKind.READER);
        place.made(new Requests.Created("node", 1), 1);
        return place;
    }

    /** With no server: agrees to every transaction. */
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    private static final class Agreeable extends ZooKeeper {

        volatile int grantedMillis = HOUR_MILLIS;

        Agreeable() throws IOException {
            super("127.0.0.1:1", HOUR_MILLIS, event -> {});
        }

        @Override
        public int getSessionTimeout() {
            return grantedMillis;
        }

        @Override
        public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
            callback.processResult(0, "/", context, List.of());
        }
    }
}

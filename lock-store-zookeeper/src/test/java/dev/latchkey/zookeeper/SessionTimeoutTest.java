package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A session that other servers grant another timeout. */
class SessionTimeoutTest {

    private static final int HOUR_MILLIS = 3_600_000;

    private Reconnected client;

    @BeforeEach
    void open() throws Exception {
        client = new Reconnected();
    }

    @AfterEach
    void close() throws Exception {
        client.close();
    }

    /** The servers that count may not have heard of what a deposed leader grants. */
    @Test
    void givenTheNextServerGrantsMore_thenNoLongerIsBelievedThanTheFirstGranted() {
        Session session = heardOf(HOUR_MILLIS / 2);
        client.grantedMillis = HOUR_MILLIS / 4;
        assertThat(session.mayLive().getAsBoolean()).isFalse();

        client.grantedMillis = HOUR_MILLIS;

        assertThat(session.mayLive().getAsBoolean()).isFalse();
    }

    @Test
    void givenTheNextServerGrantsLess_thenNoLongerIsBelieved() {
        Session session = heardOf(HOUR_MILLIS / 2);
        client.grantedMillis = HOUR_MILLIS;
        assertThat(session.mayLive().getAsBoolean()).isTrue();

        client.grantedMillis = HOUR_MILLIS / 4;

        assertThat(session.mayLive().getAsBoolean()).isFalse();
    }

    /** No server has granted anything yet. */
    @Test
    void givenLookedAtBeforeTheFirstConnection_thenWhatIsGrantedThenCounts() {
        Session session = heardOf(HOUR_MILLIS / 2);
        assertThat(session.mayLive().getAsBoolean()).isFalse();

        client.grantedMillis = HOUR_MILLIS;

        assertThat(session.mayLive().getAsBoolean()).isTrue();
    }

    /** As long ago as given. */
    private Session heardOf(long millis) {
        long heard = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(millis);
        return new Session(
                client,
                new NodeSettings(new Paths(ZooKeeperStore.DEFAULT_ROOT), ZooDefs.Ids.OPEN_ACL_UNSAFE),
                SessionProof.ofNewSession(heard),
                new Freezes(heard));
    }

    /** With no server: what one grants is set. */
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    private static final class Reconnected extends ZooKeeper {

        volatile int grantedMillis;

        Reconnected() throws IOException {
            super("127.0.0.1:1", HOUR_MILLIS, event -> {});
        }

        @Override
        public int getSessionTimeout() {
            return grantedMillis;
        }
    }
}

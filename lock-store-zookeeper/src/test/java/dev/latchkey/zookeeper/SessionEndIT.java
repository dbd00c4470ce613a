package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** When a holder learns that the servers may have ended its session. */
class SessionEndIT extends BehindAProxy {

    SessionEndIT() {
        super(Stores.session(Duration.ofSeconds(10)));
    }

    /** Each holder sees it by the clock: it does not depend on how soon a thread comes to tell it. */
    @Test
    void givenManyHeld_whenTheServersMayHaveEndedTheSession_thenAllAreLostAtTheSameMoment() {
        List<Lock> held = IntStream.range(0, 1_000)
                .mapToObj(number -> locks.createLock("held-" + number))
                .toList();
        assertThat(held).allMatch(Lock::tryAcquire);

        proxy.silence();

        Awaitility.await()
                .atMost(LIMIT)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofNanos(1))
                .until(() -> held.stream().anyMatch(Lock::isExpired));
        assertThat(held).allMatch(Lock::isExpired);
    }

    /** Who has a thread tell of the end is told no later than it comes. */
    @Test
    void givenTheEndComesBeforeTheNextProofIsDue_whenBeaten_thenItIsLookedAtAgainByTheEnd() throws Exception {
        ZooKeeper client = Nodes.connect(proxy.address().toString(), 400_000);
        // An answer would put the end off.
        proxy.silence();
        try {
            long timeout = TimeUnit.MILLISECONDS.toNanos(client.getSessionTimeout());
            long left = timeout / 16 * 3 / 4;
            SessionProof proofs = SessionProof.none();
            Session session = new Session(
                    client,
                    new NodeSettings(new Paths(ZooKeeperStore.DEFAULT_ROOT), ZooDefs.Ids.OPEN_ACL_UNSAFE),
                    proofs,
                    new Freezes(System.nanoTime()));
            session.add(new Waiter());
            long now = System.nanoTime();
            proofs.add(now, now, timeout, timeout / 2 - left);

            assertThat(session.beat()).isLessThanOrEqualTo(left);
        } finally {
            proxy.heal();
            client.close();
        }
    }
}

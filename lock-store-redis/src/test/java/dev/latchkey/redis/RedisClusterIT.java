package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.RedisServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Slots that move while locks are used. */
class RedisClusterIT extends OnACluster {

    private RedisStore store;
    private LockFactory locks;
    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";

    @BeforeEach
    void open() {
        store = (RedisStore) new RedisStore.Provider().open(cluster.dsn());
        locks = new LockFactory(store);
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
    }

    /** With several declared keys every operation failed, for the helpers are usually absent. */
    @Test
    void givenTheSlotIsMoving_whenAcquiredAndReleased_thenItWorksAllTheTime() {
        RedisServer target = another();
        Lock held = locks.createLock(resource, LONG_TTL);
        assertThat(held.tryAcquire()).isTrue();
        cluster.beginMove(state, target);
        held.refresh();
        assertThat(held.release()).isTrue();
        assertThat(held.tryAcquire()).isTrue();

        cluster.finishMove(state, target);

        assertThat(held.isAcquired()).isTrue();
        assertThat(held.release()).isTrue();
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();
    }

    @Test
    void givenSomebodyWaits_whenTheSlotHasMoved_thenItIsGrantedThere() throws Exception {
        Lock held = locks.createLock(resource, LONG_TTL);
        assertThat(held.tryAcquire()).isTrue();
        CompletableFuture<Lock> waiting = Background.acquire(locks.createLock(resource, Duration.ofSeconds(3)));
        Awaitility.await()
                .until(() -> cluster.masterOf(state).text("ZCARD", state + ":q").equals("1"));

        cluster.move(state, another());
        assertThat(held.release()).isTrue();

        assertThat(waiting.join().fencingToken()).isPresent();
    }

    /** The driver gives the addresses that it makes of one DSN everything but this. */
    @Test
    void givenTheNameOfTheClient_whenConnected_thenTheServerOfTheLockShowsIt() {
        try (LockFactory named = LockFactory.connect(cluster.dsn() + "?clientName=reports")) {
            assertThat(named.createLock(resource).tryAcquire()).isTrue();

            assertThat(cluster.masterOf(state).text("CLIENT", "LIST")).contains("name=reports");
        }
    }

    private RedisServer another() {
        RedisServer owner = cluster.masterOf(state);
        return cluster.masters().stream()
                .filter(master -> master != owner)
                .findFirst()
                .orElseThrow();
    }
}

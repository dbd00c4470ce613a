package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.RedisCluster;
import dev.latchkey.testkit.RedisServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Slots that move while locks are used. */
class RedisClusterIT {

    private static final RedisCluster CLUSTER = RedisCluster.start();

    private final RedisStore store = (RedisStore) new RedisStore.Provider().open(CLUSTER.dsn());
    private final LockFactory locks = new LockFactory(store);
    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";

    @AfterEach
    void close() {
        locks.close();
        store.close();
    }

    @AfterAll
    static void stop() {
        CLUSTER.close();
    }

    /** With several declared keys every operation failed, for the helpers are usually absent. */
    @Test
    void givenTheSlotIsMoving_whenAcquiredAndReleased_thenItWorksAllTheTime() {
        RedisServer target = another();
        Lock held = locks.createLock(resource, LONG_TTL);
        assertThat(held.tryAcquire()).isTrue();
        CLUSTER.beginMove(state, target);
        held.refresh();
        assertThat(held.release()).isTrue();
        assertThat(held.tryAcquire()).isTrue();

        CLUSTER.finishMove(state, target);

        assertThat(held.isAcquired()).isTrue();
        assertThat(held.release()).isTrue();
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();
    }

    @Test
    void givenSomebodyWaits_whenTheSlotHasMoved_thenItIsGrantedThere() throws Exception {
        Lock held = locks.createLock(resource, LONG_TTL);
        assertThat(held.tryAcquire()).isTrue();
        CompletableFuture<Lock> waiting = async(locks.createLock(resource, Duration.ofSeconds(3)));
        Awaitility.await()
                .until(() -> CLUSTER.masterOf(state).text("ZCARD", state + ":q").equals("1"));

        CLUSTER.move(state, another());
        assertThat(held.release()).isTrue();

        assertThat(waiting.join().fencingToken()).isPresent();
    }

    private RedisServer another() {
        RedisServer owner = CLUSTER.masterOf(state);
        return CLUSTER.masters().stream()
                .filter(master -> master != owner)
                .findFirst()
                .orElseThrow();
    }

    private static CompletableFuture<Lock> async(Lock lock) {
        return Background.supply(() -> {
            try {
                return lock.acquire(Duration.ofSeconds(30));
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        });
    }
}

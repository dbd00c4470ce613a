package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
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
        store = (RedisStore) new RedisStore.Provider().open(PatientDsn.redis(cluster.dsn()));
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
        CompletableFuture<Lock> waiting =
                Background.acquire(locks.createLock(resource, TimeLimits.ttl(Duration.ofSeconds(6))));
        Awaitility.await()
                .until(() -> cluster.masterOf(state).text("ZCARD", state + ":q").equals("1"));

        cluster.move(state, another());
        assertThat(held.release()).isTrue();

        assertThat(waiting.join().fencingToken()).isPresent();
    }

    /** Asked for by the key of a lock that is not there, the target granted permits that were held at the source. */
    @Test
    void givenTheSlotIsMoving_whenPermitsAreHeld_thenNoMoreAreGranted() {
        RedisServer target = another();
        Semaphore semaphore = locks.semaphore(resource, 2).ttl(LONG_TTL).create();
        Permit held = semaphore.tryAcquire(2).orElseThrow();
        cluster.beginMove(state, target);

        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(semaphore.available()).isZero();
        assertThat(held.refresh().isHeld()).isTrue();
        assertThat(held.release()).isTrue();
        Permit next = semaphore.tryAcquire(2).orElseThrow();
        cluster.finishMove(state, target);

        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(next.isHeld()).isTrue();
        assertThat(next.release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(2);
    }

    @Test
    void givenSomebodyWaitsForPermits_whenTheSlotHasMoved_thenTheyAreGrantedThere() throws Exception {
        Semaphore semaphore = locks.semaphore(resource, 2).ttl(LONG_TTL).create();
        Permit held = semaphore.tryAcquire(2).orElseThrow();
        BackgroundCall<Permit> waiting = BackgroundCall.start(() -> semaphore.acquire(2));
        Awaitility.await()
                .until(() ->
                        cluster.masterOf(state).text("ZCARD", state + ":s:q").equals("1"));

        cluster.move(state, another());
        assertThat(held.release()).isTrue();

        assertThat(waiting.result().release()).isTrue();
        assertThat(semaphore.available()).isEqualTo(2);
    }

    /** The driver gives the addresses that it makes of one DSN everything but this. */
    @Test
    void givenTheNameOfTheClient_whenConnected_thenTheServerOfTheLockShowsIt() {
        try (LockFactory named = LockFactory.connect(PatientDsn.redis(cluster.dsn() + "?clientName=reports"))) {
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

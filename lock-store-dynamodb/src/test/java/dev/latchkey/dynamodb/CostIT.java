package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** What the client sends, counted there, and the capacity units that the server counts for it. */
class CostIT {

    private static final String UPDATE = "UpdateItem";
    private static final String GET = "GetItem";
    private static final Duration TTL = Duration.ofMinutes(1);

    private final Requests requests = new Requests();
    private DynamoDbClient client;
    private DynamoDbStore store;
    private LockFactory locks;
    private final String resource = "counted-" + System.nanoTime();

    @BeforeEach
    void open() throws InterruptedException {
        URI shared = Dsn.parse(DynamoDbServer.sharedDsn()).endpoint().orElseThrow();
        client = Stores.client(new ServerAddress(shared.getHost(), shared.getPort()), requests);
        store = Stores.builder(client, "costs").createTableIfMissing().build();
        locks = new LockFactory(store);
        lock().acquire().release();
        requests.forget();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
        client.close();
    }

    private Lock lock() {
        return locks.createLock(resource, TTL);
    }

    @Test
    void givenFree_whenAcquiredAndReleased_thenOneWriteEach() throws Exception {
        for (int i = 0; i < 50; i++) {
            lock().acquire().release();
        }

        assertThat(requests.sent()).isEqualTo(Collections.nCopies(100, UPDATE));
        assertThat(requests.units()).hasSize(100).allMatch(units -> units == 1.0);
    }

    @Test
    void givenNeverUsed_whenAcquired_thenTheItemIsMadeWithARangeOfTokens() throws Exception {
        locks.createLock(resource + "-new", TTL).acquire();

        assertThat(requests.sent()).containsExactly(UPDATE, UPDATE, UPDATE);
    }

    @Test
    void givenHeldHere_whenRefused_thenOneRead() throws Exception {
        lock().acquire();
        requests.forget();

        assertThat(lock().tryAcquire()).isFalse();

        assertThat(requests.sent()).containsExactly(GET);
        assertThat(requests.units()).containsExactly(1.0);
    }

    @Test
    void givenHeldElsewhere_whenRefused_thenOneWriteAndThenReads() {
        try (DynamoDbStore other = Stores.builder(client, "costs").build();
                LockFactory others = new LockFactory(other)) {
            assertThat(others.createLock(resource, TTL).tryAcquire()).isTrue();
            requests.forget();

            assertThat(lock().tryAcquire()).isFalse();
            assertThat(lock().tryAcquire()).isFalse();
            assertThat(lock().tryAcquire()).isFalse();

            assertThat(requests.sent()).containsExactly(UPDATE, GET, GET);
        }
    }

    @Test
    void givenHeld_whenRefreshedAndAskedFor_thenOneWriteAndOneRead() throws Exception {
        Lock lock = lock().acquire();
        requests.forget();

        lock.refresh();
        assertThat(lock.isAcquired()).isTrue();

        assertThat(requests.sent()).isEqualTo(List.of(UPDATE, GET));
    }

    /** The version of another store says nothing of the rest of its lease: it is renewed once. */
    @Test
    void givenAKeyFromElsewhere_whenAskedForTwice_thenRenewedOnce() {
        try (DynamoDbStore other = Stores.builder(client, "costs").build();
                LockFactory others = new LockFactory(other)) {
            Lock giver = others.createLock(resource, TTL);
            assertThat(giver.tryAcquire()).isTrue();
            Lock receiver = locks.createLock(giver.transferKey(), TTL);
            requests.forget();

            assertThat(receiver.isAcquired()).isTrue();
            assertThat(receiver.isAcquired()).isTrue();

            assertThat(requests.sent()).containsExactly(GET, UPDATE, GET);
            assertThat(receiver.release()).isTrue();
        }
    }

    @Test
    void givenHeld_whenListedAndForced_thenOneScanAndOneWrite() throws Exception {
        Lock lock = lock().acquire();
        requests.forget();

        assertThat(store.list(resource, Optional.empty(), 1_000).resources()).hasSize(1);
        assertThat(store.forceRelease(resource, lock.fencingToken().orElseThrow()))
                .isTrue();

        assertThat(requests.sent()).containsExactly("Scan", UPDATE);
    }

    /** What is found in a list is forgotten soonest: it must not be forgotten who is being watched. */
    @Test
    void givenAListOfOthers_whenAHolderIsTriedFor_thenItIsStillKnown() throws Exception {
        lock().acquire();
        for (int i = 0; i < 5; i++) {
            assertThat(store.list("", Optional.empty(), 1_000).resources()).isNotEmpty();
        }
        requests.forget();

        assertThat(lock().tryAcquire()).isFalse();

        assertThat(requests.sent()).containsExactly(GET);
    }

    @Test
    void givenTheHolderIsSeenToBeDead_whenAcquired_thenOneWrite() throws Exception {
        Lock dead = locks.createLock(resource, TimeLimits.ttl(Duration.ofSeconds(3)));
        assertThat(dead.tryAcquire()).isTrue();
        // It is not shown any more where so much time has passed.
        assertThat(store.holders(resource).size() == 1 || dead.isExpired()).isTrue();
        Awaitility.await().until(() -> store.holders(resource).isEmpty());
        requests.forget();

        assertThat(lock().tryAcquire()).isTrue();

        assertThat(requests.sent()).containsExactly(UPDATE);
    }
}

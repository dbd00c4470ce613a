package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.EtcdServer;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseTimeToLiveResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How long the lease of another process lasts, as servers say that do not lead any more, or do not yet. */
class LeaseLookupIT {

    private static final Duration TTL = Duration.ofMinutes(5);

    /** What etcd calls for ever, in seconds. */
    private static final long FOREVER = Long.MAX_VALUE / 1_000_000_000;

    /** For a busy machine. */
    private static final String PATIENTLY = "?timeout=60s";

    private static EtcdServer server;

    private AnswerProxy proxy;
    private final AtomicInteger answers = new AtomicInteger();

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start() {
        proxy = AnswerProxy.to(server.address());
    }

    @AfterEach
    void stop() {
        proxy.close();
    }

    private void sayForever(int times) {
        proxy.<LeaseTimeToLiveResponse>change(
                LeaseGrpc.getLeaseTimeToLiveMethod(),
                answer -> answers.incrementAndGet() <= times
                        ? answer.toBuilder().setTTL(FOREVER).build()
                        : answer);
    }

    private static Key transferred(LockFactory locks, String resource) {
        Lock lock = locks.createLock(resource, TTL);
        assertThat(lock.tryAcquire()).isTrue();
        return lock.transferKey();
    }

    @Test
    void givenAnotherLeads_whenATransferredKeyIsLookedFor_thenItLastsNoLongerThanItsTtl() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + PATIENTLY)) {
            Key key = transferred(locks, "found");
            sayForever(2);

            assertThat(store.find(key).orElseThrow().lease().ttl()).isLessThanOrEqualTo(TTL);
            assertThat(answers).hasValue(3);
        }
    }

    @Test
    void givenAnotherLeads_whenATransferredKeyIsRefreshed_thenItLastsNoLongerThanItsTtl() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                LockFactory others = LockFactory.connect(proxy.dsn() + PATIENTLY)) {
            Lock lock = others.createLock(transferred(locks, "refreshed"), TTL);
            sayForever(2);

            lock.refresh();

            assertThat(lock.remainingLifetime().orElseThrow()).isLessThanOrEqualTo(TTL);
        }
    }

    /** It asked again and again, and was then in doubt. */
    @Test
    void givenTheLeaseHasEndedAndTheKeyIsStillThere_whenATransferredKeyIsRefreshed_thenLost() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                LockFactory others = LockFactory.connect(proxy.dsn() + PATIENTLY)) {
            Lock lock = others.createLock(transferred(locks, "ended"), TTL);
            proxy.<LeaseTimeToLiveResponse>change(LeaseGrpc.getLeaseTimeToLiveMethod(), answer -> {
                answers.incrementAndGet();
                return answer.toBuilder().setTTL(-1).build();
            });

            assertThatThrownBy(lock::refresh)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            lost -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
            assertThat(answers).as("looked again after a read").hasValue(2);
        }
    }

    private void sayEnded(int times) {
        proxy.<LeaseTimeToLiveResponse>change(
                LeaseGrpc.getLeaseTimeToLiveMethod(),
                answer -> answers.incrementAndGet() <= times
                        ? answer.toBuilder().setTTL(-1).build()
                        : answer);
    }

    /** As a server says that has not heard of the lease yet. */
    @Test
    void givenTheServerIsBehind_whenATransferredKeyIsRefreshed_thenItIsHeldStill() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                LockFactory others = LockFactory.connect(proxy.dsn() + PATIENTLY)) {
            Lock lock = others.createLock(transferred(locks, "behind"), TTL);
            sayEnded(1);

            lock.refresh();

            assertThat(lock.isAcquired()).isTrue();
        }
    }

    @Test
    void givenTheServerIsBehind_whenATransferredKeyIsLookedFor_thenItIsFound() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + PATIENTLY)) {
            Key key = transferred(locks, "behind-found");
            sayEnded(1);

            assertThat(store.find(key)).isPresent();
        }
    }

    @Test
    void givenTheServerIsBehind_whenHoldersAreListed_thenTheHolderIsAmongThem() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + PATIENTLY)) {
            Key key = transferred(locks, "behind-listed");
            sayEnded(1);

            assertThat(store.holders(key.resource())).hasSize(1);
        }
    }

    @Test
    void givenTheServerIsBehind_whenResourcesAreListed_thenTheHeldOneIsAmongThem() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + PATIENTLY)) {
            Key key = transferred(locks, "behind-in-a-page");
            sayEnded(1);

            assertThat(store.list(key.resource(), Optional.empty(), 10).resources())
                    .singleElement()
                    .satisfies(listed -> assertThat(listed.holders()).hasSize(1));
        }
    }

    @Test
    void givenAnotherLeads_whenHoldersAreListed_thenTheyHoldNoLongerThanTheirLease() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + PATIENTLY)) {
            Key key = transferred(locks, "listed");
            sayForever(2);

            assertThat(store.holders(key.resource()))
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.remaining().orElseThrow())
                            .isLessThanOrEqualTo(TTL.plus(TTL.dividedBy(10))));
        }
    }

    @Test
    void givenNobodyLeadsForLong_whenATransferredKeyIsLookedFor_thenItFails() {
        try (LockFactory locks = LockFactory.connect(server.dsn() + PATIENTLY);
                EtcdStore store = Stores.open(proxy.dsn() + "?timeout=6s")) {
            Key key = transferred(locks, "unknown");
            assertThat(store.find(key)).isPresent();
            sayForever(Integer.MAX_VALUE);

            assertThatThrownBy(() -> store.find(key))
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT));
        }
    }
}

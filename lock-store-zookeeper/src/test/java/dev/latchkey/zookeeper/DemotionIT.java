package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.BackgroundCall;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Who may share since a demotion gets in, though nobody answered it. */
class DemotionIT extends BehindAProxy {

    DemotionIT() {
        super("?sessionTimeout=60s");
    }

    @Test
    void givenADemotionThatNobodyAnswered_whenConnectedAgain_thenReadersOfEveryStoreGetInBesideTheHolder()
            throws Exception {
        Lock holder = locks.createLock("demoted");
        assertThat(holder.tryAcquire()).isTrue();
        String id = idOf(nodes.line("demoted").get(0));
        try (ZooKeeperStore other = Stores.open(server.address(), "")) {
            BackgroundCall<Lock> here = waiting(locks, 2);
            BackgroundCall<Lock> there = waiting(new LockFactory(other), 3);
            AtomicBoolean loses = new AtomicBoolean(true);
            loseRequests(NodeName.demotionMark(id), loses);
            assertThatThrownBy(holder::acquireShared).isInstanceOf(LockStorageException.class);

            loses.set(false);

            assertThat(here.result().isAcquired()).isTrue();
            assertThat(there.result().isAcquired()).isTrue();
            assertThat(holder.isAcquired()).isTrue();
            assertThat(holder.release()).isTrue();
            assertThat(there.result().release()).isTrue();
            assertThat(here.result().release()).isTrue();
            awaitLine("demoted", 0);
        }
    }

    @Test
    void givenAPromotedHoldersDemotionThatNobodyAnswered_whenConnectedAgain_thenReadersOfEveryStoreGetInBesideIt()
            throws Exception {
        Lock holder = locks.createLock("demoted");
        assertThat(holder.tryAcquireShared()).isTrue();
        assertThat(holder.tryAcquire()).isTrue();
        String promotion = nodes.line("demoted").stream()
                .filter(name -> name.contains("."))
                .findFirst()
                .orElseThrow();
        try (ZooKeeperStore other = Stores.open(server.address(), "")) {
            BackgroundCall<Lock> here = waiting(locks, 3);
            BackgroundCall<Lock> there = waiting(new LockFactory(other), 4);
            AtomicBoolean loses = new AtomicBoolean(true);
            loseRequests(promotion, loses);
            assertThatThrownBy(holder::acquireShared).isInstanceOf(LockStorageException.class);

            loses.set(false);

            assertThat(here.result().isAcquired()).isTrue();
            assertThat(there.result().isAcquired()).isTrue();
            assertThat(holder.isAcquired()).isTrue();
            assertThat(holder.release()).isTrue();
            assertThat(there.result().release()).isTrue();
            assertThat(here.result().release()).isTrue();
            awaitLine("demoted", 0);
        }
    }

    private static String idOf(String name) {
        return Objects.requireNonNull(NodeName.parse(name), name).id();
    }

    private BackgroundCall<Lock> waiting(LockFactory factory, int lengthThen) {
        BackgroundCall<Lock> call = BackgroundCall.start(factory.createLock("demoted")::acquireShared);
        awaitLine("demoted", lengthThen);
        call.awaitWaiting();
        return call;
    }

    private void awaitLine(String resource, int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).hasSize(length));
    }

    private void loseRequests(String part, AtomicBoolean goesOn) {
        var unused = proxy.loseRequest(part).thenRun(() -> {
            if (goesOn.get()) {
                loseRequests(part, goesOn);
            }
        });
    }
}

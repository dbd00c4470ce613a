package dev.latchkey.tree;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateRule;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class EditorHoldStoreTest {

    private final InMemoryStore store = new InMemoryStore();
    private final ReentrantLock turn = new ReentrantLock();
    private final EditorHoldStore holdStore = new EditorHoldStore(
            store, new BatchRequests(store, Optional.empty(), StateRule.BOTH_INDEXES), Duration.ofSeconds(30), turn);
    private final LockFactory factory = new LockFactory(holdStore);
    private final Lock lock = factory.createLock("tree");

    /** As when the JVM exits: an editor that releases has its own turn, and waits for that of the Lock. */
    @Test
    void givenTheEditorHasItsTurn_whenTheFactoryIsClosed_thenAllIsGivenUpWithoutIt() throws Exception {
        Key held = take("root");
        assertThat(lock.tryAcquire()).isTrue();
        FutureTask<Void> exit = new FutureTask<>(factory::close, null);
        turn.lock();
        try {
            new Thread(exit, "exit").start();

            exit.get(10, TimeUnit.SECONDS);
            lock.close();
        } finally {
            turn.unlock();
        }

        assertThat(store.find(held)).isEmpty();
        assertThat(holdStore.keys()).isEmpty();
    }

    /** What is being taken is no part of the renewal, and ends by a lease that began before it. */
    @Test
    void givenSomethingIsBeingTaken_whenTheRestIsRenewed_thenNoLongerIsBelievedThanThatLasts() {
        Key held = take("root");
        holdStore.takingBegins();
        long begun = System.nanoTime();

        Response renewed = holdStore.refresh(holdStore.request(held, LockMode.EXCLUSIVE));

        assertThat(renewed)
                .isInstanceOfSatisfying(
                        Response.Granted.class,
                        granted -> assertThat(granted.lease().since().orElseThrow() - begun)
                                .isNotPositive());
        holdStore.takingEnds();
        assertThat(holdStore.refresh(holdStore.request(held, LockMode.EXCLUSIVE)))
                .isInstanceOfSatisfying(
                        Response.Granted.class,
                        granted -> assertThat(granted.lease().since().orElseThrow() - begun)
                                .isPositive());
    }

    private Key take(String resource) {
        List<Request> requests = List.of(holdStore.request(Key.of(resource), LockMode.EXCLUSIVE));
        holdStore.add(requests, (BatchAttempt.Granted) store.saveAll(requests));
        return requests.get(0).key();
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Contracts of waiting notice a store that wakes nobody, although each of its waiters looks by itself in time. */
class WakeUpLimitTest {

    private final OfTheDeafStore contract = new OfTheDeafStore();
    private final Fixture fixture = new Fixture(contract);

    @AfterEach
    void end() throws Exception {
        fixture.end();
        contract.store.close();
    }

    @Test
    @Tag("slow")
    void givenAStoreThatWakesNobody_whenItsWaiterIsNext_thenTheContractFails() {
        assertTooLate(() -> contract.givenWaiting_whenHolderReleases_thenAcquired(fixture));
    }

    @Test
    @Tag("slow")
    void givenAStoreThatWakesNobody_whenItsWaiterInTheStoreIsNext_thenTheContractFails() {
        assertTooLate(() -> contract.givenWaiting_whenTheHolderDeletes_thenGranted(fixture));
    }

    private static void assertTooLate(Executable test) {
        assertThatThrownBy(test::execute).isInstanceOf(AssertionError.class).hasMessageContaining("did not end within");
    }

    private static final class OfTheDeafStore implements WaitingContract, BlockingStoreContract {

        private final DeafStore store = new DeafStore();

        @Override
        public PersistingStore store() {
            return store;
        }

        @Override
        public PersistingStore separateStore() {
            return new DeafStore();
        }
    }

    /** Claims to keep a queue, and looks too seldom to be in time by chance where a thread of the test is late. */
    private static final class DeafStore implements BlockingStore {

        private static final int POLL_SECONDS = 30;

        private final InMemoryStore memory = new InMemoryStore();

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }

        @Override
        public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
                throws InterruptedException {
            CountDownLatch end = new CountDownLatch(1);
            withdrawn.thenRun(end::countDown);
            Response response = memory.save(request);
            while (response instanceof Response.Conflicted && !end.await(POLL_SECONDS, TimeUnit.SECONDS)) {
                response = memory.save(request);
            }
            return response;
        }

        @Override
        public void close() {
            memory.close();
        }
    }
}

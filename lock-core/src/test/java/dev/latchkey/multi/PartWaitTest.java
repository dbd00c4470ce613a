package dev.latchkey.multi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A wait for several resources that begins again and again. */
class PartWaitTest {

    private static final int WAITS = 100;

    private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();

    @Test
    void givenOthersAreFasterAgainAndAgain_whenItWaits_thenItsSignalKeepsNothingOfWaitsBefore() throws Exception {
        Contested store = new Contested(new InMemoryStore());

        Response response = wait(store);

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(store.waits).isEqualTo(WAITS);
        assertThat(withdrawn.getNumberOfDependents()).isLessThan(10);
    }

    @Test
    void givenItWaitsOnceMore_whenWithdrawn_thenItEnds() throws Exception {
        Contested store = new Contested(new InMemoryStore());
        store.withdrawnAt = WAITS / 2;

        Response response = wait(store);

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(store.waits).isEqualTo(WAITS / 2);
        assertThat(store.ended).isEqualTo(1);
    }

    private Response wait(Contested store) throws InterruptedException {
        Request request = new Request(Key.of("a, b"), LockMode.EXCLUSIVE, Duration.ofMinutes(1), RetryIntent.AGAIN);
        return new MultiLockStore(store, List.of("a", "b")).waitAndSave(request, Duration.ofMinutes(1), withdrawn);
    }

    /** One of the resources is granted to each wait, and another one is held by others then, until enough have waited. */
    private final class Contested implements BlockingStore, BatchStore {

        private final InMemoryStore memory;
        private int waits;
        private int withdrawnAt;
        private int ended;

        Contested(InMemoryStore memory) {
            this.memory = memory;
        }

        @Override
        public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> end)
                throws InterruptedException {
            waits++;
            var unused = end.thenRun(() -> ended++);
            if (waits == withdrawnAt) {
                withdrawn.complete(null);
            }
            return memory.waitAndSave(request, maxWait, end);
        }

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            return waits < WAITS
                    ? new BatchAttempt.Conflicted(Set.of(waits % 2 == 0 ? "a" : "b"), Duration.ZERO)
                    : memory.saveAll(requests);
        }

        @Override
        public int deleteAll(List<Key> keys) {
            return memory.deleteAll(keys);
        }

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
    }
}

package dev.latchkey.combined;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Nothing else ends the parts without a lease of a hold that nobody renews or releases. */
class LeaseEndsTest {

    private static final int REFUSED = 3;

    @Test
    void givenNoThreadIsToBeHad_whenThereIsOneAgain_thenTheEndComes() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        LeaseEnds ends = new LeaseEnds(task -> {
            if (asked.incrementAndGet() <= REFUSED) {
                throw new OutOfMemoryError("unable to create native thread (planted)");
            }
            return new Thread(task, "latchkey-lease-end");
        });
        CompletableFuture<Boolean> ended = new CompletableFuture<>();

        ends.execute(() -> ended.complete(true));

        assertThat(ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(asked).hasValue(REFUSED + 1);
    }

    /** The threads of the JDK may all be at work for the application. */
    @Test
    void givenSomeMembersHaveNoLease_whenWhatWasToldIsOver_thenAThreadOfTheStoreEndsIt() throws Exception {
        List<Member> members =
                List.of(new Member(1, new InMemoryStore()), new Member(2, new WithoutLeases(new InMemoryStore())));
        ToldLease lease = new ToldLease(new Quorum(members, new UnanimousStrategy(), Duration.ofSeconds(30)));
        CompletableFuture<String> ended = new CompletableFuture<>();
        lease.tell(Lease.timed(System.nanoTime(), Duration.ofMillis(1)));

        lease.atItsEnd(() -> ended.complete(Thread.currentThread().getName()));

        assertThat(ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("latchkey-lease-end");
    }

    private record WithoutLeases(InMemoryStore memory) implements PersistingStore {

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }
    }
}

package dev.latchkey.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.TestLimit;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TermRunTest {

    /** Each asks several times whether the hold is live. */
    private static final int LOOKS = 50;

    /** What the end of the term was waited for with was kept at each look: some hundred bytes a second, for years. */
    @Test
    @Tag("slow")
    void givenATermThatLasts_whenItWasLookedAtManyTimes_thenNothingIsKeptOfTheLooks() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<Term> led = new CompletableFuture<>();
        try (LockFactory locks = new LockFactory(new LookedAt(looks));
                LeaderElection election = LeaderElection.builder(locks, "dispatcher")
                        .ttl(Duration.ofMillis(300))
                        .stopTime(Duration.ofMillis(100))
                        .onElected(term -> {
                            led.complete(term);
                            new CountDownLatch(1).await();
                        })
                        .start()) {
            Term term = led.get(TestLimit.LIMIT.toSeconds(), TimeUnit.SECONDS);
            int begun = looks.get();

            await().atMost(TestLimit.LIMIT).until(() -> looks.get() > begun + LOOKS);

            assertThat(term.end().getNumberOfDependents()).isLessThanOrEqualTo(2);
            assertThat(election.isLeader()).isTrue();
        }
    }

    /** Grants without a lease, and counts how often the thread of the election looks at the hold. */
    private record LookedAt(AtomicInteger looks) implements PersistingStore {

        @Override
        public Response save(Request request) {
            return granted(request.mode());
        }

        private Response.Granted granted(LockMode mode) {
            return new Response.Granted(
                    mode, OptionalLong.of(1), Lease.session(new CompletableFuture<>(), this::isLive));
        }

        private boolean isLive() {
            if (Thread.currentThread().getName().equals("latchkey-candidate")) {
                looks.incrementAndGet();
            }
            return true;
        }

        @Override
        public boolean delete(Key key) {
            return true;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return Optional.of(granted(LockMode.EXCLUSIVE));
        }
    }
}

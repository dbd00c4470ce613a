package dev.latchkey.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.TestLimit;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class TermRunTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** It looks once a second: whatever a look leaves behind, those of a year are thirty million. */
    @Test
    void givenATermLasts_whenItIsLookedAtAgainAndAgain_thenNoLookIsRemembered() throws Exception {
        try (LockFactory locks = new LockFactory(new InMemoryStore())) {
            Lock held = locks.createLock("dispatcher", Duration.ofHours(1)).acquire();
            Term term = new Term(held, SECOND);
            CountDownLatch over = new CountDownLatch(1);
            ElectionSettings settings = new ElectionSettings(
                    "dispatcher", Duration.ofHours(1), SECOND, new Backoff(SECOND, SECOND), ignored -> over.await());
            FutureTask<?> run =
                    new FutureTask<>(() -> new TermRun(settings, term).run().join());
            Thread candidate = new Thread(run);
            candidate.start();

            await().during(SECOND.multipliedBy(4))
                    .atMost(TestLimit.LIMIT)
                    .failFast("looks are remembered", () -> term.end().getNumberOfDependents() > 2)
                    .until(() -> true);

            over.countDown();
            assertThat(run.get()).isNull();
            assertThat(term.end()).isCompletedWithValue(TermEnd.RETURNED);
        }
    }
}

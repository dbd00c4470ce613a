package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestThreadsTest {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final RequestThreads threads = new RequestThreads(2, Duration.ZERO);
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final CountDownLatch clients = new CountDownLatch(1);

    @AfterEach
    void close() {
        threads.close();
    }

    @Test
    void givenAllWaitForTheirClients_whenAnotherComes_thenTheOldestGivesUp() throws Exception {
        start("first");
        start("second");

        start("third");

        assertThat(next()).isEqualTo("first was interrupted");
        assertThat(next()).isEqualTo("third");
        threads.execute(() -> events.add("fourth"));
        assertThat(next()).isEqualTo("second was interrupted");
        assertThat(next()).isEqualTo("fourth");
    }

    @Test
    void givenNoneWaitsForItsClient_whenAnotherComes_thenItWaitsUntilOneDoes() throws Exception {
        CountDownLatch stores = new CountDownLatch(1);
        for (String name : new String[] {"first", "second"}) {
            threads.execute(() -> {
                threads.beNeeded();
                events.add(name);
                if (await(stores)) {
                    threads.beExpendable();
                    await(clients);
                }
                events.add(name + (Thread.currentThread().isInterrupted() ? " was interrupted" : " went on"));
            });
            assertThat(next()).isEqualTo(name);
        }

        threads.execute(() -> events.add("third"));
        assertThat(events).isEmpty();
        stores.countDown();

        assertThat(next()).endsWith(" was interrupted");
        assertThat(next()).isEqualTo("third");
        clients.countDown();
        assertThat(next()).endsWith(" went on");
    }

    /** Whoever is just being answered must not go because many others have come. */
    @Test
    void givenGrace_whenMoreCome_thenNoneGivesUpBeforeItIsOver() throws Exception {
        try (RequestThreads patient = new RequestThreads(1, LIMIT)) {
            patient.execute(() -> {
                events.add("first");
                events.add("first " + (await(clients) ? "went on" : "was interrupted"));
            });
            assertThat(next()).isEqualTo("first");
            patient.execute(() -> events.add("second"));
            patient.makeRoom();
            clients.countDown();

            assertThat(next()).isEqualTo("first went on");
            assertThat(next()).isEqualTo("second");
        }
    }

    private void start(String name) throws InterruptedException {
        threads.execute(() -> {
            events.add(name);
            await(clients);
            events.add(name + " was interrupted");
        });
        if (!name.equals("third")) {
            assertThat(next()).isEqualTo(name);
        }
    }

    /** Returns false, with the interrupt flag set, if it was interrupted. */
    private static boolean await(CountDownLatch latch) {
        try {
            latch.await();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private String next() throws InterruptedException {
        return String.valueOf(events.poll(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
}

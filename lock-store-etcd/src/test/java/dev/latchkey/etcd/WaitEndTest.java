package dev.latchkey.etcd;

import dev.latchkey.testkit.TimeLimits;
import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class WaitEndTest {

    /** A waiter looks every two seconds: whatever a look leaves behind, those of a day are 43,200. */
    @Test
    void givenNothingHappened_whenItWasWaitedFor_thenTheEventIsForgotten() throws Exception {
        WaitEnd end = new WaitEnd(System.nanoTime() + TimeUnit.DAYS.toNanos(1), new CompletableFuture<>());

        WeakReference<CompletableFuture<Void>> event = waitedFor(end);

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> {
            System.gc();
            return event.refersTo(null);
        });
        end.stop();
    }

    private static WeakReference<CompletableFuture<Void>> waitedFor(WaitEnd end) throws InterruptedException {
        CompletableFuture<Void> event = new CompletableFuture<>();
        end.await(event, 1);
        return new WeakReference<>(event);
    }
}

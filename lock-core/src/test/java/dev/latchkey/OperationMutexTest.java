package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class OperationMutexTest {

    private static final Deadline FAR = Deadline.in(Duration.ofHours(1));

    private final OperationMutex mutex = new OperationMutex();
    private final AtomicBoolean released = new AtomicBoolean();

    /** A thread that acquires in a loop takes the turn again before one that was woken can run. */
    @Test
    void givenOneWaitsToRelease_whenAnotherAcquiresInALoop_thenTheReleaseComesNext() throws Exception {
        for (int round = 0; round < 100; round++) {
            assertThat(mutex.takeUnlessWaiting()).isTrue();
            Thread releaser = startRelease();

            mutex.end();
            assertThat(mutex.takeUnlessWaiting()).isTrue();

            assertThat(released).as("round %d", round).isTrue();
            mutex.end();
            releaser.join();
        }
    }

    @Test
    void givenOneWaitsToRelease_whenAnotherComesToWait_thenTheReleaseComesNext() throws Exception {
        for (int round = 0; round < 100; round++) {
            assertThat(mutex.takeUnlessWaiting()).isTrue();
            Thread releaser = startRelease();

            mutex.end();
            assertThat(mutex.takeToWait(new CompletableFuture<>(), FAR)).isTrue();

            assertThat(released).as("round %d", round).isTrue();
            mutex.end();
            releaser.join();
        }
    }

    private Thread startRelease() {
        released.set(false);
        Thread releaser = new Thread(() -> {
            mutex.takeFromWaiter();
            released.set(true);
            mutex.end();
        });
        releaser.setDaemon(true);
        releaser.start();
        await().pollInterval(Duration.ofMillis(1)).until(() -> releaser.getState() == Thread.State.WAITING);
        return releaser;
    }
}

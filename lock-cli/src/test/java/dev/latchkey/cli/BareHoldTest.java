package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BareHoldTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** As when the process was frozen between the grant and the answer, and nobody has told of the loss yet. */
    @Test
    void givenTheLeaseEndedSinceTheGrant_whenItIsToBeSaid_thenLostAndNotSaid() throws Exception {
        LockFactory locks = new LockFactory(new InMemoryStore());
        Lock lock = locks.createLock("x", Duration.ofMillis(50));
        assertThat(lock.tryAcquire()).isTrue();
        await().atMost(Cli.PATIENCE)
                .until(() -> lock.remainingLifetime().orElseThrow().isZero());
        Inbox inbox = new Inbox();
        // Whoever goes on to hold it ends of this.
        inbox.add(new Event.InputEnded());

        int exitCode = new BareHold(new AcquireAnswer.Acquired(locks, lock, Duration.ZERO), inbox, console())
                .untilToldToEnd("held x", false);

        assertThat(exitCode).isEqualTo(ExitCode.LOST.number());
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("lock: lost the lock \"x\"");
    }

    private Console console() {
        return new Console(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                false);
    }
}

package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LossReason;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock is given back as soon as nobody watches over the command any more: it must not run then. */
@Timeout(60)
class ChildSupervisorTest {

    private static final RunRules RULES =
            new RunRules(Duration.ofSeconds(5), OnLost.TERM, Duration.ZERO, LockTarget.NO_LIMIT);

    private final CompletableFuture<ProcessHandle> command = new CompletableFuture<>();
    private final EventQueue inbox = new EventQueue();

    private Process start() {
        try {
            Process started = new ProcessBuilder("sleep", "300").start();
            command.complete(started.toHandle());
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As where the limit of processes is reached: the command is there, and the thread that waits for it is not. */
    @Test
    void givenTheCommandRuns_whenJavaFailsToSaySo_thenItIsGoneBeforeTheFailureIsTold() {
        assertThatThrownBy(() -> ChildSupervisor.untilGone("x", RULES, inbox, new StoreOptions().console(), () -> {
                    var unused = start();
                    throw new OutOfMemoryError("planted");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseInstanceOf(OutOfMemoryError.class);

        assertThat(command.join().isAlive()).isFalse();
    }

    @Test
    void givenTheCommandRuns_whenWatchingOverItFails_thenItIsGoneBeforeTheFailureIsTold() {
        PrintStream broken = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                throw new IllegalStateException("planted");
            }
        };
        inbox.add(new Event.Lost(LossReason.EXPIRED));

        assertThatThrownBy(() ->
                        ChildSupervisor.untilGone("x", RULES, inbox, new Console(broken, broken, false), this::start))
                .isInstanceOf(IllegalStateException.class);

        assertThat(command.join().isAlive()).isFalse();
    }
}

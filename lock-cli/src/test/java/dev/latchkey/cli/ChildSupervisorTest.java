package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The lock is given back as soon as nobody watches over the command any more: it must not run then. */
class ChildSupervisorTest {

    private static final RunRules RULES =
            new RunRules(Duration.ofSeconds(5), OnLost.TERM, Duration.ZERO, LockTarget.NO_LIMIT);

    /** Without a lease. */
    private static final Lock HELD = new LockFactory(new NullStore()).createLock("x");

    private final CompletableFuture<ProcessHandle> command = new CompletableFuture<>();
    private final Inbox inbox = new Inbox();

    private static Console console() {
        return new StoreOptions().console();
    }

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
        assertThatThrownBy(() -> ChildSupervisor.untilGone(HELD, RULES, inbox, console(), () -> {
                    var unused = start();
                    throw new OutOfMemoryError("planted");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseInstanceOf(OutOfMemoryError.class);

        assertThat(command.join().isAlive()).isFalse();
    }

    /** The lock was released, and the command ran on. */
    @Test
    void givenTheCommandRuns_whenItCannotBeToldWhetherTheLockIsHeld_thenItIsGoneBeforeTheFailureIsTold() {
        try (LockFactory locks = new LockFactory(new FailingSession())) {
            Lock lock = locks.createLock("x");
            assertThat(lock.tryAcquire()).isTrue();

            assertThatThrownBy(() -> ChildSupervisor.untilGone(lock, RULES, inbox, console(), this::start))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("planted");
        }

        assertThat(command.join().isAlive()).isFalse();
    }

    /** As when the process was frozen while it started the command, and nobody has told of the loss yet. */
    @ParameterizedTest
    @EnumSource
    void givenTheLeaseEndedDuringTheStart_whenTheCommandRuns_thenItIsKilledAtOnce(OnLost onLost) {
        RunRules patient = new RunRules(Duration.ofHours(1), onLost, Duration.ZERO, LockTarget.NO_LIMIT);
        try (LockFactory locks = new LockFactory(new InMemoryStore())) {
            Lock lock = locks.createLock("x", Duration.ofSeconds(1));
            assertThat(lock.tryAcquire()).isTrue();

            assertThatExceptionOfType(CommandException.class)
                    .isThrownBy(() -> ChildSupervisor.untilGone(lock, patient, inbox, console(), () -> {
                        Process started = start();
                        await().atMost(Cli.PATIENCE)
                                .until(() ->
                                        lock.remainingLifetime().orElseThrow().isZero());
                        return started;
                    }))
                    .satisfies(e -> assertThat(e.exitCode()).isEqualTo(ExitCode.LOST));
        }

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
                        ChildSupervisor.untilGone(HELD, RULES, inbox, new Console(broken, broken, false), this::start))
                .isInstanceOf(IllegalStateException.class);

        assertThat(command.join().isAlive()).isFalse();
    }

    /** A warning that came late, as on a busy machine or after a freeze, left the command the whole grace: beyond its lease. */
    @Test
    void givenLittleIsLeftOfTheLease_whenTheCommandIgnoresTerm_thenItIsKilledBeforeTheLeaseEnds() {
        RunRules patient = new RunRules(Duration.ofHours(1), OnLost.KILL, Duration.ZERO, LockTarget.NO_LIMIT);
        inbox.add(Event.LeaseEnding.in(Duration.ofMillis(1_300)));

        assertThat(CompletableFuture.supplyAsync(() -> untilGone(patient)))
                .succeedsWithin(Cli.PATIENCE)
                .isEqualTo(OptionalInt.empty());
        assertThat(command.join().isAlive()).isFalse();
    }

    private OptionalInt untilGone(RunRules rules) {
        try {
            return ChildSupervisor.untilGone(HELD, rules, inbox, console(), this::startIgnoringTerm);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Process startIgnoringTerm() {
        try {
            Process started =
                    new ProcessBuilder("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done").start();
            command.complete(started.toHandle());
            assertThat(started.inputReader().readLine()).isEqualTo("deaf");
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its session can be looked at until the command runs. */
    private final class FailingSession implements PersistingStore {

        private final NullStore granting = new NullStore();

        @Override
        public Response save(Request request) {
            return new Response.Granted(
                    LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.session(new CompletableFuture<>(), this::isLive));
        }

        private boolean isLive() {
            if (command.isDone()) {
                throw new IllegalStateException("planted");
            }
            return true;
        }

        @Override
        public boolean delete(Key key) {
            return granting.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return granting.find(key);
        }
    }
}

package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The process is stopped after the grant, for longer than its lease, and goes on before anybody has told of the loss. */
@EnabledOnOs(OS.LINUX)
class LockFrozenIT extends CliFixture {

    private static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(5));

    @Test
    void givenFrozenBeforeTheStart_whenItWakesUp_thenTheCommandIsNotStarted() {
        Path ran = cli.file("ran");
        var run = freezing("run", "--no-auto-refresh", "x", "--", "touch", ran.toString());

        freezeAndWake(run);

        assertThat(run.exitCode()).as(run.err()).isEqualTo(76);
        assertThat(run.err()).contains("did not start it");
        assertThat(ran).doesNotExist();
    }

    @Test
    void givenFrozenBeforeTheAnswer_whenItWakesUp_thenItDoesNotSayThatItHolds() {
        var hold = freezing("acquire", "--hold", "--json", "x");

        freezeAndWake(hold);

        assertThat(hold.exitCode()).as(hold.err()).isEqualTo(76);
        assertThat(hold.out()).isEmpty();
    }

    private Cli.Running freezing(String verb, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                "target/lock-cli.jar:target/test-classes",
                Main.class.getName(),
                verb,
                "--store",
                FreezingStore.DSN,
                "--ttl",
                TTL.toString()));
        command.addAll(List.of(arguments));
        return cli.start(command, "");
    }

    private static void freezeAndWake(Cli.Running running) {
        Path status = Path.of("/proc", Long.toString(running.process().pid()), "status");
        await().atMost(Cli.PATIENCE).until(() -> Files.readString(status).contains("\nState:\tT"));
        // The lease began before.
        await().atMost(Cli.PATIENCE).pollDelay(TTL).until(() -> true);
        running.signal("CONT");
    }

    /** Grants everything, and stops the process when the command is being prepared, or the answer. */
    public static final class FreezingStore implements StoreProvider, ExpiringStore {

        static final String DSN = "freezing";

        private static final Set<String> FROZEN_IN =
                Set.of(ChildCommand.class.getName(), HoldDescription.class.getName());

        private final AtomicBoolean wasFrozen = new AtomicBoolean();

        @Override
        public Set<String> schemes() {
            return Set.of(DSN);
        }

        @Override
        public PersistingStore open(String dsn) {
            return new FreezingStore();
        }

        @Override
        public Response save(Request request) {
            Lease lease = new Lease(OptionalLong.of(System.nanoTime()), request.ttl(), Optional.empty(), this::isLive);
            return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), lease);
        }

        @Override
        public Response refresh(Request request) {
            return save(request);
        }

        @Override
        public boolean delete(Key key) {
            return true;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return Optional.empty();
        }

        private boolean isLive() {
            boolean isHere = StackWalker.getInstance()
                    .walk(frames -> frames.anyMatch(frame -> FROZEN_IN.contains(frame.getClassName())));
            if (isHere && wasFrozen.compareAndSet(false, true)) {
                stopThisProcess();
            }
            return true;
        }

        private static void stopThisProcess() {
            try {
                int unused = new ProcessBuilder("sh", "-c", "kill -s STOP $PPID")
                        .start()
                        .waitFor();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

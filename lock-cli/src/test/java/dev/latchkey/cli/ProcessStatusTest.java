package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ProcessStatusTest {

    private final Process process;
    private final long child;

    ProcessStatusTest() throws IOException {
        // It does not wait for the end of what it started before it became a cat.
        process = new ProcessBuilder("sh", "-c", "sleep 600 & echo $!; exec cat").start();
        child = Long.parseLong(process.inputReader().readLine());
    }

    @AfterEach
    void kill() {
        ProcessHandle.of(child).ifPresent(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    @Test
    void givenItSleeps_thenItDoesNotRunAndNothingIsPending() {
        awaitAtRest();

        assertThat(status().isPending(UnixSignal.TERM)).isFalse();
    }

    @Test
    void givenItIsStopped_whenSignalled_thenThatIsPending() {
        awaitAtRest();
        Cli.signal("STOP", process.pid());
        awaitState("T", process.pid());

        Cli.signal("TERM", process.pid());

        assertThat(status().isPending(UnixSignal.TERM)).isTrue();
        assertThat(status().isPending(UnixSignal.QUIT)).isFalse();
    }

    @Test
    void givenItsParentDoesNotKnow_thenItHasEnded() {
        Path name = Path.of("/proc", Long.toString(process.pid()), "comm");
        await().atMost(Cli.PATIENCE).until(() -> Files.readString(name).equals("cat\n"));

        Cli.signal("KILL", child);
        awaitState("Z", child);

        assertThat(ProcessStatus.of(child).mayHaveActedOn(UnixSignal.TERM)).isTrue();
    }

    @Test
    void givenItsParentKnows_thenItHasEnded() throws InterruptedException {
        process.destroyForcibly().waitFor();

        assertThat(status().mayHaveActedOn(UnixSignal.TERM)).isTrue();
        assertThat(status().isPending(UnixSignal.TERM)).isFalse();
    }

    private void awaitAtRest() {
        await().atMost(Cli.PATIENCE).until(() -> !status().mayHaveActedOn(UnixSignal.TERM));
    }

    private static void awaitState(String state, long pid) {
        Path status = Path.of("/proc", Long.toString(pid), "status");
        await().atMost(Cli.PATIENCE).until(() -> Files.readString(status).contains("State:\t" + state));
    }

    private ProcessStatus status() {
        return ProcessStatus.of(process.pid());
    }
}

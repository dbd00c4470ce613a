package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.PosixSignal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryLauncherIT {

    @TempDir
    Path directory;

    @Test
    void givenAFrozenProgram_whenAChildOfItHasDied_thenItCanBeThawed() throws Exception {
        Path own = Files.createDirectory(directory.resolve("program"));
        Launcher.Launched program = BinaryLauncher.find("sh")
                .orElseThrow()
                .launch(own, List.of("-c", "sleep 3600 & wait; echo the child is gone; sleep 3600"));
        try {
            Awaitility.await().until(() -> sleeping().isPresent());
            ProcessHandle child = sleeping().orElseThrow();
            program.freeze();
            PosixSignal.KILL.sendTo(child.pid());

            program.thaw();

            Awaitility.await().untilAsserted(() -> assertThat(program.log()).contains("the child is gone"));
            assertThat(program.isAlive()).isTrue();
        } finally {
            program.kill();
        }
    }

    private static Optional<ProcessHandle> sleeping() {
        return ProcessHandle.current()
                .descendants()
                .filter(process -> process.info().command().orElse("").endsWith("sleep"))
                .findFirst();
    }
}

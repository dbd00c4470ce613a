package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Response;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Conversions in whose middle a process that is no Latchkey gets the lock, and keeps it. */
class LostConversionIT {

    @TempDir
    Path directory;

    private FlockStore store;
    private Process stranger;
    private BufferedReader said;

    @BeforeEach
    void open() throws Exception {
        store = new FlockStore(directory);
        Key key = Key.of("report");
        granted(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();
        stranger = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        Path.of(Stranger.class
                                        .getProtectionDomain()
                                        .getCodeSource()
                                        .getLocation()
                                        .toURI())
                                .toString(),
                        Stranger.class.getName(),
                        store.fileOf("report").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        said = stranger.inputReader();
    }

    @AfterEach
    void close() {
        stranger.destroyForcibly();
        store.close();
    }

    /** As long as this process converts, no other Latchkey is admitted exclusively. */
    @Test
    void givenAStrangerGetsItInTheMiddleOfADemotion_whenTheHolderIsToldOfTheLoss_thenTheConversionHasNotEnded()
            throws Exception {
        CompletableFuture<Boolean> convertedWhenTold = new CompletableFuture<>();

        loseWhileDemoting(() -> convertedWhenTold.complete(isConverting()));

        assertThat(convertedWhenTold).isCompletedWithValue(true);
        assertThat(isConverting()).isFalse();
    }

    /** A conversion that never ends keeps everybody else out. A JVM that has run out of memory can fail like this. */
    @Test
    void givenAStrangerGetsItInTheMiddleOfADemotion_whenTellingTheHolderFails_thenTheConversionEndsAllTheSame()
            throws Exception {
        loseWhileDemoting(() -> {
            throw new UnrecordableError();
        });

        assertThat(isConverting()).isFalse();
        stranger.destroyForcibly().waitFor();
        granted(store.save(exclusive(Key.of("report"))));
    }

    /** Demotes until the stranger has got in between. */
    private void loseWhileDemoting(Runnable whenTold) throws Exception {
        boolean demoted = true;
        while (demoted) {
            Key key = Key.of("report");
            Response.Granted held = granted(store.save(exclusive(key)));
            var unused = held.lease().lost().orElseThrow().thenRun(whenTold);
            tellStranger();
            assertThat(said.readLine()).isEqualTo("tries");
            demoted = demotes(holding(key, held));
            if (demoted) {
                tellStranger();
                assertThat(said.readLine()).isEqualTo("no");
                assertThat(store.delete(key)).isTrue();
            }
        }
        assertThat(said.readLine()).isEqualTo("held");
    }

    private boolean demotes(Key holder) {
        try {
            granted(store.save(shared(holder)));
            return true;
        } catch (LockStorageException e) {
            return false;
        }
    }

    private void tellStranger() throws IOException {
        stranger.getOutputStream().write('\n');
        stranger.getOutputStream().flush();
    }

    private boolean isConverting() {
        try {
            String inode =
                    ":" + Files.getAttribute(store.fileOf("report"), "unix:ino") + " " + KernelLock.CONVERSION + " ";
            String pid = " " + ProcessHandle.current().pid() + " ";
            return Files.readAllLines(Path.of("/proc/locks")).stream()
                    .anyMatch(line -> line.contains(inode) && line.contains(pid));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

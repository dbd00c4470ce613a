package dev.latchkey.flock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProviderTest {

    @TempDir
    Path directory;

    @Test
    void givenAbsolutePath_whenConnected_thenLocksAreThere() throws Exception {
        Path locks = directory.resolve("100%25 mine");
        try (LockFactory factory = LockFactory.connect("flock://" + locks)) {
            Lock lock = factory.createLock("report");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(locks).isDirectoryContaining("glob:**report-*.lock");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "flock:",
                "flock:/var/locks",
                "flock:var/locks",
                "flock://",
                "flock://var/locks",
                "flock://~/locks"
            })
    void givenWrongDsn_whenConnected_thenToldWhatWouldBeRight(String dsn) {
        assertThatThrownBy(() -> LockFactory.connect(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(dsn)
                .hasMessageContaining("flock:///var/locks");
    }

    @Test
    void givenDirectoryIsAFile_whenConnected_thenRefused() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));

        assertThatThrownBy(() -> LockFactory.connect("flock://" + file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is a file");
    }

    @Test
    void givenNulInThePath_whenConnected_thenRefused() {
        assertThatThrownBy(() -> LockFactory.connect("flock:///tmp/a\u0000b"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenStateHome_whenTheUsersDirectoryIsLocated_thenThereAndForNobodyElse() throws Exception {
        Map<String, String> environment =
                Map.of("XDG_STATE_HOME", directory.resolve("state").toString());

        Path located = UserDirectory.locate(environment::get, "/nowhere");

        assertThat(located).isEqualTo(directory.resolve("state/latchkey/locks")).isDirectory();
        assertThat(Permissions.get(located)).isEqualTo("rwx------");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "relative"})
    void givenNoUsableStateHome_whenTheUsersDirectoryIsLocated_thenInTheHome(String stateHome) {
        Path located = UserDirectory.locate(Map.of("XDG_STATE_HOME", stateHome)::get, directory.toString());

        assertThat(located).isEqualTo(directory.resolve(".local/state/latchkey/locks"));
    }

    /** E2: the page says ~, which is $HOME to everybody. */
    @Test
    void givenHome_whenTheUsersDirectoryIsLocated_thenThereWhateverTheUserDatabaseSays() {
        Path located = UserDirectory.locate(Map.of("HOME", directory.toString())::get, "/nowhere");

        assertThat(located).isEqualTo(directory.resolve(".local/state/latchkey/locks"));
    }

    /** E2: relative to the working directory, it would exclude nobody who is elsewhere. */
    @ParameterizedTest
    @ValueSource(strings = {"?", "", "home/me"})
    void givenNoAbsoluteHome_whenTheUsersDirectoryIsLocated_thenRefused(String home) {
        assertThatThrownBy(() -> UserDirectory.locate(Map.of("HOME", "here")::get, home))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HOME")
                .hasMessageContaining("flock:///var/locks");
    }
}

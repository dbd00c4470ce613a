package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Directories and files that cannot be used, and the permissions of new files. */
class FilePermissionsTest extends WithAStore {

    @Test
    void givenDirectoryInPlaceOfTheFile_whenTaken_thenStorageFailure() throws Exception {
        Files.createDirectory(file());

        assertThatThrownBy(() -> store.save(exclusive(key)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining(file().toString())
                .hasMessageContaining("is a directory");
        assertThat(store.find(key)).isEmpty();
    }

    @Test
    void givenFileInPlaceOfTheDirectory_whenOpened_thenRefused() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));

        assertThatThrownBy(() -> new FlockStore(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("is a file");
    }

    @Test
    void givenDirectoryCannotBeCreated_whenOpened_thenRefused() throws Exception {
        Path below = Files.createFile(directory.resolve("file")).resolve("below");

        assertThatThrownBy(() -> new FlockStore(below))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(below.toString())
                .hasMessageContaining("cannot be created");
    }

    @Test
    void givenDirectoryIsNotWritable_whenOpened_thenRefused() throws Exception {
        Path unwritable = unwritableDirectory();

        assertThatThrownBy(() -> new FlockStore(unwritable))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(unwritable.toString())
                .hasMessageContaining("is not writable");
    }

    /** For root nearly everything is writable. */
    private Path unwritableDirectory() throws IOException {
        Path made = Files.createDirectory(directory.resolve("unwritable"), Permissions.of("r-xr-xr-x"));
        return Files.isWritable(made) ? Path.of("/proc/self") : made;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwx------ rw-------", "rwxr-xr-x rw-------", "rwxrwxr-x rw-rw----", "rwxrwxrwx rw-rw-rw-"})
    void givenDirectory_whenAFileIsMade_thenItIsAsOpenAsTheDirectory(String ofDirectoryAndFile) throws Exception {
        String[] permissions = ofDirectoryAndFile.split(" ", -1);
        Path made = directory.resolve("made");
        try (FlockStore other = new FlockStore(made)) {
            Permissions.set(made, permissions[0]);

            granted(other.save(exclusive(key)));

            assertThat(Permissions.get(other.fileOf("report"))).isEqualTo(permissions[1]);
        }
    }

    /**
     * E3, E6: whoever sees a lock file sees it with the rights it will always have; in between another user could open it
     * and keep its lock, or a kill leave it as it was.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rwx------ rw-------", "rwxrwxrwx rw-rw-rw-"})
    void givenSomebodyLooks_whenAFileIsMade_thenItHasItsRightsFromTheFirst(String ofDirectoryAndFile) throws Exception {
        String[] permissions = ofDirectoryAndFile.split(" ", -1);
        Permissions.set(directory, permissions[0]);
        int files = 300;
        FutureTask<Set<String>> looking = new FutureTask<>(() -> {
            Set<String> seen = new TreeSet<>();
            for (int i = 0; i < files; i++) {
                seen.add(firstSeen(store.fileOf("looked-at-" + i)));
            }
            return seen;
        });
        Thread looker = new Thread(looking, "looker");
        looker.setDaemon(true);
        looker.start();

        for (int i = 0; i < files; i++) {
            Key one = Key.of("looked-at-" + i);
            granted(store.save(exclusive(one)));
            assertThat(store.delete(one)).isTrue();
        }

        assertThat(looking.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).containsExactly(permissions[1]);
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).hasSize(files);
        }
    }

    private static String firstSeen(Path file) throws IOException {
        while (true) {
            try {
                return Permissions.get(file);
            } catch (NoSuchFileException e) {
                Thread.onSpinWait();
            }
        }
    }

    /** E4: Java's own way to open for reading and writing says O_CREAT, which the kernel may refuse. */
    @Test
    void givenAFile_whenOpenedWithoutCreating_thenThatOne() throws Exception {
        Path file = Files.writeString(file(), "here");
        List<RandomAccessFile> strays = new ArrayList<>();

        try (RandomAccessFile opened =
                requireNonNull(ExistingFile.open(file, LockDirectory.identity(file), strays::add))) {
            opened.write('t');

            assertThat(file).hasContent("tere");
            assertThat(openFiles()).hasSize(1);
        }
        assertThat(strays).isEmpty();
    }

    /** E4: closing what it has opened could drop a lock that this process has on it. */
    @Test
    void givenFileReplaced_whenOpenedWithoutCreating_thenNoneAndItIsLeftOpen() throws Exception {
        Path file = Files.writeString(file(), "one");
        Object identity = LockDirectory.identity(file);
        Files.move(Files.writeString(store.fileOf("other"), "another"), file, StandardCopyOption.REPLACE_EXISTING);
        List<RandomAccessFile> strays = new ArrayList<>();

        assertThat(ExistingFile.open(file, identity, strays::add)).isNull();

        assertThat(strays).hasSize(1);
        strays.get(0).close();
    }

    /** E4. */
    @Test
    void givenNoFile_whenOpenedWithoutCreating_thenThereIsNone() {
        assertThatThrownBy(() -> ExistingFile.open(file(), "any", stray -> {})).isInstanceOf(IOException.class);

        assertThat(file()).doesNotExist();
    }
}

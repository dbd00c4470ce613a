package dev.latchkey.flock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

/** What crosses the opening of a file. */
class OpenFilesTest extends WithAStore {

    /** Java opens for writing with O_CREAT: a file that it makes has the rights that the umask leaves. */
    @Test
    void givenDeletedSinceItWasLookedUp_whenOpened_thenWhatIsThereHasTheRightsOfALockFile() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        Object identity = new LockDirectory(directory).identityOrCreate(file());
        // Another file keeps the inode from being used again.
        Files.createLink(directory.resolve("kept"), file());
        Files.delete(file());

        assertThat(OpenFiles.OF_THIS_JVM.openIf(file(), identity)).isNull();

        assertThat(Files.getPosixFilePermissions(file())).isEqualTo(PosixFilePermissions.fromString("rw-rw-rw-"));
    }

    @Test
    void givenTheStoreIsClosedMeanwhile_whenOpened_thenTheFileIsClosed() throws Exception {
        ResourceFiles closed = new ResourceFiles(new LockDirectory(directory), OpenFiles.OF_THIS_JVM);
        closed.close();

        assertThatThrownBy(() -> OpenFiles.OF_THIS_JVM.open(closed, "report"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("closed");

        assertThat(openFiles()).isEmpty();
    }
}

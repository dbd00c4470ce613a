package dev.latchkey.flock;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The directory for locks of one user.
 *
 * @see <a href="https://specifications.freedesktop.org/basedir-spec/latest/">XDG Base Directory Specification</a>
 */
final class UserDirectory {

    private UserDirectory() {}

    /** Returns the user's directory, created for nobody else to look into. */
    static Path locate(UnaryOperator<@Nullable String> environment, String home) {
        String state = environment.apply("XDG_STATE_HOME");
        // The specification has relative ones ignored.
        Path base = state != null && Path.of(state).isAbsolute() ? Path.of(state) : Path.of(home, ".local", "state");
        Path directory = base.resolve("latchkey").resolve("locks");
        try {
            // Looks first: before JDK 19, createDirectories takes a link to a directory for a file in its way.
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory, ownerOnly());
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "the lock directory " + directory + " cannot be created: " + e
                            + ". Name another one, as in flock:///var/locks",
                    e);
        }
        return directory;
    }

    private static FileAttribute<?>[] ownerOnly() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
    }
}

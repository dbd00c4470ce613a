package dev.latchkey.flock;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The lock directory of a user.
 *
 * @see <a href="https://specifications.freedesktop.org/basedir-spec/latest/">XDG Base Directory Specification</a>
 */
final class UserDirectory {

    private UserDirectory() {}

    /**
     * Returns the directory of the user. If it does not exist, creates it with access for the user only.
     *
     * @param userHome from the user database; for a user who is not in it, Java says {@code ?}
     * @throws IllegalArgumentException if it cannot be created, or no home is known by an absolute path
     */
    static Path locate(UnaryOperator<@Nullable String> environment, String userHome) {
        Path base = stateHome(environment, userHome);
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

    private static Path stateHome(UnaryOperator<@Nullable String> environment, String userHome) {
        // The specification says to ignore relative paths.
        return absolute(environment.apply("XDG_STATE_HOME"))
                .or(() -> absolute(environment.apply("HOME"))
                        .or(() -> absolute(userHome))
                        .map(home -> home.resolve(".local").resolve("state")))
                // A relative path would be another directory for each process.
                .orElseThrow(() ->
                        new IllegalArgumentException("no lock directory of user " + System.getProperty("user.name")
                                + ": HOME is not an absolute path, and the user database knows no home. Set HOME,"
                                + " or name a directory, as in flock:///var/locks"));
    }

    private static Optional<Path> absolute(@Nullable String path) {
        return Optional.ofNullable(path).map(Path::of).filter(Path::isAbsolute);
    }

    private static FileAttribute<?>[] ownerOnly() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
    }
}

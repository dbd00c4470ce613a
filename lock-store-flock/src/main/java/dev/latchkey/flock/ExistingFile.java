package dev.latchkey.flock;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens existing files without O_CREAT. {@link RandomAccessFile} always adds O_CREAT to open for writing, which the kernel
 * refuses for another user's file in a sticky directory. A channel needs no O_CREAT, but an interrupt closes it.
 *
 * <p>Therefore the file is opened for reading, and opened again for reading and writing through {@code /proc/self/fd}, so
 * that the directory which the kernel checks is not the sticky one.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/sysctl/fs.html#protected-regular">fs.protected_regular</a>
 */
final class ExistingFile {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private ExistingFile() {}

    /**
     * Opens a file for reading and writing; returns null if the path leads to another one by now. Throws if the system has
     * no {@code /proc/self/fd}.
     *
     * @param strays receives descriptors that may be of another file: closing them could drop a lock of this process
     */
    static @Nullable RandomAccessFile open(Path path, Object identity, Consumer<RandomAccessFile> strays)
            throws IOException {
        RandomAccessFile toFindIt = new RandomAccessFile(path.toFile(), "r");
        boolean isThatOne = false;
        try {
            isThatOne = LockDirectory.identity(path).equals(identity);
            return isThatOne ? again(descriptorOf(identity), identity, strays) : null;
        } finally {
            if (isThatOne) {
                toFindIt.close();
            } else {
                strays.accept(toFindIt);
            }
        }
    }

    private static @Nullable RandomAccessFile again(Path descriptor, Object identity, Consumer<RandomAccessFile> strays)
            throws IOException {
        RandomAccessFile file = new RandomAccessFile(descriptor.toFile(), "rw");
        if (identity.equals(keyOf(descriptor))) {
            return file;
        }
        strays.accept(file);
        return null;
    }

    private static Path descriptorOf(Object identity) throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                if (identity.equals(keyOf(descriptor))) {
                    return descriptor;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        throw new NoSuchFileException(DESCRIPTORS.toString());
    }

    private static Object keyOf(Path descriptor) throws IOException {
        try {
            return Objects.requireNonNullElse(
                    Files.readAttributes(descriptor, BasicFileAttributes.class).fileKey(), descriptor);
        } catch (NoSuchFileException e) {
            // Closed meanwhile, or not a file.
            return descriptor;
        }
    }
}

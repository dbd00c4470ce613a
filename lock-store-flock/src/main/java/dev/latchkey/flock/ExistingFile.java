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
 * Opens files that exist, without O_CREAT. {@link RandomAccessFile} cannot: it adds O_CREAT wherever it may write, and the
 * kernel refuses that for another user's file in a sticky directory. Channels can, but an interrupt closes them.
 *
 * <p>So the file is opened for reading, and that descriptor again for both through the kernel's list of descriptors: the
 * directory that the kernel looks at is then that list.
 *
 * @see <a href="https://docs.kernel.org/admin-guide/sysctl/fs.html#protected-regular">fs.protected_regular</a>
 */
final class ExistingFile {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private ExistingFile() {}

    /**
     * Opens a file for reading and writing; null if the path leads to another one by now. Throws where this system has no
     * such list.
     *
     * @param strays gets what may be another file: closing it could drop a lock of this process
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
            // Closed meanwhile, or no file at all.
            return descriptor;
        }
    }
}

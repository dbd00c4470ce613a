package dev.latchkey.flock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The directory of a store, which maps resources to files. */
final class LockDirectory {

    private static final int LONGEST_PREFIX = 50;
    private static final String READABLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

    private final Path directory;

    /** Creates the directory if it is missing; throws IllegalArgumentException if it cannot be used. */
    LockDirectory(Path given) {
        if (given.getFileSystem() != FileSystems.getDefault()) {
            throw unusable(
                    given, "is not on the default file system, and only the kernel's own files can be locked", null);
        }
        directory = given.toAbsolutePath();
        try {
            createIfMissing();
        } catch (FileAlreadyExistsException e) {
            throw unusable(directory, "is a file: name a directory", e);
        } catch (IOException e) {
            throw unusable(directory, "cannot be created: " + e + ". Create it, or name another one", e);
        }
        if (!Files.isWritable(directory) || !Files.isExecutable(directory)) {
            throw unusable(
                    directory,
                    "is not writable for user " + System.getProperty("user.name") + ": allow it, or name another one",
                    new AccessDeniedException(directory.toString()));
        }
    }

    private static IllegalArgumentException unusable(Path directory, String problem, @Nullable IOException cause) {
        return new IllegalArgumentException("the lock directory " + directory + " " + problem, cause);
    }

    /**
     * Returns the file for a resource: the readable start of its name and a SHA-256 of all of it. No two resources share a
     * file, also on file systems that ignore case or limit the length of names.
     */
    Path file(String resource) {
        byte[] hash = sha256().digest(resource.getBytes(StandardCharsets.UTF_8));
        String prefix = readablePrefix(resource);
        return directory.resolve(
                prefix + (prefix.isEmpty() ? "" : "-") + HexFormat.of().formatHex(hash) + ".lock");
    }

    private static String readablePrefix(String resource) {
        StringBuilder prefix = new StringBuilder();
        for (int i = 0; i < resource.length() && prefix.length() < LONGEST_PREFIX; i++) {
            char c = resource.charAt(i);
            boolean readable = READABLE.indexOf(c) >= 0;
            boolean separates = !prefix.isEmpty() && prefix.charAt(prefix.length() - 1) != '-';
            if (readable || separates) {
                prefix.append(readable ? c : '-');
            }
        }
        return prefix.toString();
    }

    /** Returns the identity of the file that a path leads to, and creates the file if there is none. */
    Object identityOrCreate(Path file) throws IOException {
        try {
            return identity(file);
        } catch (NoSuchFileException e) {
            // The directory may have been deleted too, for instance below /tmp.
            createIfMissing();
            NewFile.in(directory).create(file);
            return identity(file);
        }
    }

    /** Looks first: before JDK 19, createDirectories takes a link to a directory for a file in its way. */
    private void createIfMissing() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory);
        }
    }

    /** Returns the identity of the file that a path leads to: equal for the same file under any name. */
    static Object identity(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            throw new IOException("it is " + (attributes.isDirectory() ? "a directory" : "a special file")
                    + " instead of a lock file: remove it, or choose another lock directory");
        }
        Object key = attributes.fileKey();
        return key == null ? file.toRealPath() : key;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}

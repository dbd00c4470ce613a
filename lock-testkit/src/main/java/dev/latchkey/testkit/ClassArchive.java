package dev.latchkey.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;

/**
 * The classes of one kind of program of this class path, in a file of the build that a JVM maps into its memory, where it otherwise
 * reads, checks and links each class: the half of what it costs to start one. The first that ends well writes it. Thread-safe.
 *
 * <p>The JVM makes archives of jars alone: so what this module compiled is put into one.
 */
final class ClassArchive {

    private static final Path TARGET = Path.of("target").toAbsolutePath();

    /** What a JVM ends with after SIGTERM: it has written its archive then. */
    private static final int TERMINATED = 143;

    private static final Map<String, ClassArchive> ARCHIVES = new ConcurrentHashMap<>();

    private final String kind;
    private final String classPath;
    private final Path file;
    private final Path unfinished;
    private final AtomicBoolean isBeingRecorded = new AtomicBoolean();

    private ClassArchive(String kind, String classPath, Path file) {
        this.kind = kind;
        this.classPath = classPath;
        this.file = file;
        this.unfinished = file.resolveSibling(UUID.randomUUID() + ".unfinished");
    }

    /** Of programs that load about the same classes; the kind is a part of the name of a file. */
    static ClassArchive of(String kind) {
        return ARCHIVES.computeIfAbsent(kind, ClassArchive::create);
    }

    String classPath() {
        return classPath;
    }

    /** What a JVM needs to use it; nothing if it is not there. */
    List<String> toUse() {
        return Files.exists(file)
                ? List.of("-Xshare:auto", "-Xlog:disable", "-XX:SharedArchiveFile=" + file)
                : List.of();
    }

    /** What a JVM needs to write it when it exits; nothing if it is there, or another one is going to. */
    List<String> toRecord() {
        return !Files.exists(file) && !isBeingRecorded.getAndSet(true)
                ? List.of("-Xshare:auto", "-Xlog:disable", "-XX:ArchiveClassesAtExit=" + unfinished)
                : List.of();
    }

    /** Lets others use what a JVM has written, if it has: one that is killed leaves that to the next. */
    void recordedBy(Process ended) {
        try {
            boolean endedWell = ended.exitValue() == 0 || ended.exitValue() == TERMINATED;
            if (endedWell && Files.exists(unfinished)) {
                Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
                deleteOthers();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            isBeingRecorded.set(false);
        }
    }

    /** Of what was compiled before. A JVM that has one mapped keeps it. */
    private void deleteOthers() throws IOException {
        try (DirectoryStream<Path> archives = Files.newDirectoryStream(file.getParent(), kind + ".*.jsa")) {
            for (Path archive : archives) {
                if (!archive.equals(file)) {
                    Files.deleteIfExists(archive);
                }
            }
        }
    }

    private static ClassArchive create(String kind) {
        String classPath = System.getProperty("java.class.path");
        try {
            Path home = Files.createDirectories(TARGET.resolve("second-process"));
            List<String> jars = new ArrayList<>();
            for (String entry : classPath.split(File.pathSeparator, -1)) {
                jars.add(
                        Files.isDirectory(Path.of(entry))
                                ? jar(home, Path.of(entry)).toString()
                                : entry);
            }
            String all = String.join(File.pathSeparator, jars);
            String jvm = System.getProperty("java.home") + System.getProperty("java.vm.version");
            return new ClassArchive(kind, all, home.resolve(kind + "." + name(all + jvm) + ".jsa"));
        } catch (IOException e) {
            throw new UncheckedIOException("no class path for a second JVM", e);
        }
    }

    /** Another one for each state of what was compiled. */
    private static Path jar(Path home, Path directory) throws IOException {
        StringBuilder state = new StringBuilder(directory.toString());
        for (Path file : files(directory)) {
            state.append(file).append(Files.size(file)).append(Files.getLastModifiedTime(file));
        }
        Path jar = home.resolve(name(state.toString()) + ".jar");
        if (!Files.exists(jar)) {
            write(directory, jar);
        }
        return jar;
    }

    private static String name(String state) {
        return UUID.nameUUIDFromBytes(state.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static void write(Path directory, Path jar) throws IOException {
        Path unfinished = Files.createTempFile(jar.getParent(), "classes", ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(unfinished))) {
            out.setLevel(Deflater.NO_COMPRESSION);
            for (Path file : files(directory)) {
                out.putNextEntry(new JarEntry(directory.relativize(file).toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        // Another JVM of this build may write the same at once, and a JVM takes no archive of jars that have another
        // time.
        Files.setLastModifiedTime(unfinished, FileTime.from(Instant.EPOCH));
        Files.move(unfinished, jar, StandardCopyOption.ATOMIC_MOVE);
    }
}

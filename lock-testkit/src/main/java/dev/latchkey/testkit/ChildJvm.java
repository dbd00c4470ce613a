package dev.latchkey.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts programs of a test in JVMs of their own, with the class path of this one: the only place for the options of such JVMs.
 * Loading classes is most of what a short program costs, so the first of a kind that ends by itself, with exit code 0 or after
 * SIGTERM, takes a second or two more to write its classes into a file under {@code target}, and the next ones map that.
 * Thread-safe.
 */
public final class ChildJvm {

    /** The second compiler has no time to gain what it costs, and a collector with threads of its own neither. */
    static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private final ClassArchive archive;
    private final List<Path> first;
    private final List<Path> last;

    private ChildJvm(ClassArchive archive, List<Path> first, List<Path> last) {
        this.archive = archive;
        this.first = first;
        this.last = last;
    }

    /**
     * Returns one for programs of this kind.
     *
     * @param kind names what they have in common: programs of one kind should load about the same classes; letters, digits and
     *     hyphens
     */
    public static ChildJvm of(String kind) {
        return new ChildJvm(ClassArchive.of(kind), List.of(), List.of());
    }

    /**
     * Returns one of the same kind that finds these classes too, after all others.
     *
     * @param directory of class files
     */
    public ChildJvm with(Path directory) {
        return new ChildJvm(archive, first, List.of(directory));
    }

    /**
     * Returns one that finds these classes or resources before all others. It has no archive, which fits one class path alone.
     *
     * @param directory of class files or resources
     */
    public ChildJvm findingFirst(Path directory) {
        return new ChildJvm(archive, List.of(directory), last);
    }

    /**
     * Starts a program.
     *
     * @param program further options of the JVM, the name of the main class, and its arguments, where a command would be; and where
     *     its output goes. It is completed by this
     * @throws IOException if it cannot be started
     */
    public Process start(ProcessBuilder program) throws IOException {
        List<String> toRecord = first.isEmpty() ? archive.toRecord() : List.of();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        if (first.isEmpty()) {
            command.addAll(toRecord.isEmpty() ? archive.toUse() : toRecord);
        }
        command.add("-cp");
        command.add(Stream.of(
                        first.stream().map(Path::toString),
                        Stream.of(archive.classPath()),
                        last.stream().map(Path::toString))
                .flatMap(entries -> entries)
                .collect(Collectors.joining(File.pathSeparator)));
        command.addAll(program.command());
        Process process = program.command(command).start();
        if (!toRecord.isEmpty()) {
            CompletableFuture<Void> unused = process.onExit().thenAccept(archive::recordedBy);
        }
        return process;
    }
}

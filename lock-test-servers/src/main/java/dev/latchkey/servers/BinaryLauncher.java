package dev.latchkey.servers;

import dev.latchkey.testkit.PosixSignal;
import dev.latchkey.testkit.TimeLimits;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Runs a program that is a file of this machine, as a child process.
 *
 * @param program the file
 * @param prefix the words before it: what runs it as another user, usually nothing
 */
record BinaryLauncher(Path program, List<String> prefix) implements Launcher {

    BinaryLauncher(Path program) {
        this(program, List.of());
    }

    /**
     * Looks for a program in {@code PATH}, and where servers are that are not on it.
     *
     * @param name of the program
     */
    static Optional<BinaryLauncher> find(String name) {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), Stream.of("/usr/sbin", "/usr/local/sbin"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst()
                .map(BinaryLauncher::new);
    }

    @Override
    public Launched launch(Path directory, List<String> arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.add(program.toString());
        command.addAll(arguments);
        Path log = directory.resolveSibling(directory.getFileName() + ".log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        try {
            return new Child(builder.start(), log);
        } catch (IOException e) {
            throw new UncheckedIOException("could not start " + program, e);
        }
    }

    @Override
    public String toString() {
        return program.toString();
    }

    private record Child(Process process, Path logFile) implements Launched {

        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        @Override
        public void kill() {
            if (!process.isAlive()) {
                return;
            }
            // Stopped first, so that it starts no more children while they are counted.
            PosixSignal.STOP.sendTo(process.pid());
            List<ProcessHandle> all = tree();
            all.forEach(ProcessHandle::destroyForcibly);
            for (ProcessHandle one : all) {
                awaitEnd(one);
            }
        }

        @Override
        public void freeze() {
            PosixSignal.STOP.sendTo(process.pid());
            process.descendants().forEach(child -> signal(child, PosixSignal.STOP));
        }

        @Override
        public void thaw() {
            List<ProcessHandle> children = process.descendants().toList();
            PosixSignal.CONT.sendTo(process.pid());
            children.forEach(child -> signal(child, PosixSignal.CONT));
        }

        /** Children come and go by themselves; one that died while its parent was frozen goes as soon as that runs again. */
        private static void signal(ProcessHandle child, PosixSignal signal) {
            try {
                signal.sendTo(child.pid());
            } catch (AssertionError e) {
                if (child.isAlive()) {
                    throw e;
                }
            }
        }

        private List<ProcessHandle> tree() {
            return Stream.concat(Stream.of(process.toHandle()), process.descendants())
                    .toList();
        }

        private static void awaitEnd(ProcessHandle ending) {
            try {
                ending.onExit().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw new AssertionError("process " + ending.pid() + " survives SIGKILL", e);
            } catch (ExecutionException e) {
                throw new AssertionError("cannot wait for the end of process " + ending.pid(), e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while a server ended", e);
            }
        }

        @Override
        public String log() {
            try {
                return Files.readString(logFile, StandardCharsets.UTF_8);
            } catch (IOException e) {
                return "(its log cannot be read: " + e + ")";
            }
        }
    }
}

package dev.latchkey.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs a program that is a file of this machine, as a child process. */
record BinaryLauncher(Path program) implements Launcher {

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
        List<String> command = new ArrayList<>(List.of(program.toString()));
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

        private static final int LOG_SHOWN = 4_000;

        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        @Override
        public void kill() {
            process.destroyForcibly();
            try {
                if (!process.waitFor(10, TimeUnit.SECONDS)) {
                    throw new AssertionError("process " + process.pid() + " survives SIGKILL");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while a server ended", e);
            }
        }

        @Override
        public void freeze() {
            PosixSignal.STOP.sendTo(process.pid());
        }

        @Override
        public void thaw() {
            PosixSignal.CONT.sendTo(process.pid());
        }

        @Override
        public String log() {
            try {
                String all = Files.readString(logFile, StandardCharsets.UTF_8);
                return all.substring(Math.max(0, all.length() - LOG_SHOWN));
            } catch (IOException e) {
                return "(its log cannot be read: " + e + ")";
            }
        }
    }
}

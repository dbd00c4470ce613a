package dev.latchkey.cli;

import static org.awaitility.Awaitility.await;

import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.condition.OS;

/**
 * The built command, as real processes, with a flock store of its own. What a child is to do is a shell script; it finds
 * the directory of the test in {@code $T} and says by files there how far it is.
 */
final class Cli implements AutoCloseable {

    static final Duration PATIENCE = TimeLimits.LIMIT.multipliedBy(5);

    /** For a first start, which makes the archive of classes: that takes minutes on a busy machine. */
    static final Duration PATIENCE_WITH_ARCHIVE = PATIENCE.multipliedBy(2);

    /** Twice as long as tests wait. */
    private static final long MOST_LOOKS = 2 * PATIENCE_WITH_ARCHIVE.toSeconds() * 20;

    private static final String START = "dist=$1; shift; . \"$dist/../src/main/launcher/start.sh\"";

    /** A build in the background, or under nohup, ignores signals, and what it starts would go on ignoring them. */
    static final List<String> NO_SIGNAL_IGNORED =
            OS.LINUX.isCurrentOs() ? List.of("env", "--default-signal=HUP,INT,QUIT,TERM") : List.of();

    private static final Path TARGET = Path.of("target").toAbsolutePath();

    /** Not with the first test that only waits as long as these do. */
    private static final class ClassArchives {
        static {
            make("--version");
            make("run", "--store", "in-memory", "x", "--", "true");
        }

        /** By loading this class, once. */
        static void made() {}

        /** The first start after a build makes the archive of classes, of the default store or of all: no test waits for it. */
        private static void make(String... arguments) {
            try {
                Process first = new ProcessBuilder(launched(arguments))
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                if (!first.waitFor(PATIENCE_WITH_ARCHIVE.toSeconds(), TimeUnit.SECONDS)) {
                    first.destroyForcibly();
                    throw new AssertionError("the first start of lock did not end within " + PATIENCE_WITH_ARCHIVE);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        }
    }

    private final Path directory;
    private final List<Running> started = new ArrayList<>();

    Cli(Path directory) {
        this.directory = directory;
    }

    /**
     * A part of a script that waits for a file of the test, but not for ever: if the JVM of the tests is killed, nobody ends what
     * it has started.
     */
    static String until(String name) {
        return "{ n=0; while [ ! -e $T/" + name + " ] && [ -d $T ] && [ $n -lt " + MOST_LOOKS
                + " ]; do sleep 0.05; n=$((n + 1)); done; }";
    }

    Path file(String name) {
        return directory.resolve(name);
    }

    String locks() {
        return "flock://" + directory.resolve("locks");
    }

    /** Starts {@code lock} with these arguments, as the launcher does. */
    Running start(String... arguments) {
        return start(command(arguments), "");
    }

    /** A store whose keys can travel, in one file. */
    String database() {
        return "jdbc:sqlite:" + directory.resolve("locks.db");
    }

    /** Starts {@code lock} with this input, and stdout in this file. */
    Running start(String input, Path out, String... arguments) {
        return start(command(arguments), input, out);
    }

    /** Starts {@code lock} in a terminal of its own; what is typed is its input. */
    Running startInTerminal(String... arguments) {
        return startInTerminal(command(arguments));
    }

    /** Starts this command in a terminal of its own. */
    Running startInTerminal(List<String> command) {
        // exec, for a shell in between would get the key too, and end of it.
        String line =
                "exec " + String.join(" ", command.stream().map(Cli::quoted).toList());
        return start(List.of("script", "-qec", line, "/dev/null"), null);
    }

    static List<String> command(String... arguments) {
        ClassArchives.made();
        return launched(arguments);
    }

    private static List<String> launched(String... arguments) {
        List<String> command = new ArrayList<>(NO_SIGNAL_IGNORED);
        command.addAll(List.of("/bin/sh", "-c", START, "sh", TARGET.toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    Running start(List<String> command, @Nullable String input) {
        return start(command, input, newFile("out"));
    }

    private Path newFile(String kind) {
        try {
            return Files.createTempFile(directory, kind, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Running start(List<String> command, @Nullable String input, Path out) {
        try {
            Path err = newFile("err");
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
            builder.environment().put("T", directory.toString());
            builder.environment().put("LATCHKEY_STORE", locks());
            Process process = builder.start();
            if (input != null) {
                try (var stdin = process.outputWriter()) {
                    stdin.write(input);
                }
            }
            Running running = new Running(process, out, err);
            started.add(running);
            return running;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs {@code lock} to its end. */
    Running run(String... arguments) {
        Running running = start(arguments);
        int unused = running.exitCode();
        return running;
    }

    void awaitFile(String name) {
        await().atMost(PATIENCE).until(() -> Files.exists(file(name)));
    }

    String read(String name) {
        return read(file(name));
    }

    private static String read(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void touch(String name) {
        try {
            Files.createFile(file(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Nothing that a test has started stays. */
    @Override
    public void close() {
        for (Running running : started) {
            running.process().descendants().forEach(ProcessHandle::destroyForcibly);
            running.process().destroyForcibly();
        }
    }

    /** A started command. */
    record Running(Process process, Path outFile, Path errFile) {

        int exitCode() {
            return exitCode(PATIENCE);
        }

        int exitCode(Duration patience) {
            try {
                if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
                    throw new AssertionError("still running: " + err());
                }
                return process.exitValue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        String out() {
            return read(outFile);
        }

        String err() {
            return read(errFile);
        }

        void awaitErr(String part) {
            await().atMost(PATIENCE).until(() -> err().contains(part));
        }

        void signal(String signal) {
            Cli.signal(signal, process.pid());
        }

        void type(int character) {
            try {
                process.getOutputStream().write(character);
                process.getOutputStream().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** An argument of {@code --ttl}: on a busy machine more, where a process takes seconds to start. */
    static String ttl(int seconds) {
        return TimeLimits.ttl(Duration.ofSeconds(seconds)).toMillis() + "ms";
    }

    /** As many seconds, as {@link #ttl} counts them, for {@code sleep}. */
    static String seconds(int seconds) {
        return Long.toString(TimeLimits.ttl(Duration.ofSeconds(seconds)).toSeconds());
    }

    /** To a process, or to the group of one if its number is negative. */
    static void signal(String signal, long pid) {
        try {
            int exitCode = new ProcessBuilder("/bin/sh", "-c", "kill -s " + signal + " -- " + pid)
                    .start()
                    .waitFor();
            if (exitCode != 0) {
                throw new AssertionError("no process " + pid);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

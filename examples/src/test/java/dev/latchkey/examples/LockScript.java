package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The {@code lock} of this checkout, as a user starts it, with a store of its own. It collects all that is printed. */
final class LockScript implements AutoCloseable {

    private static final String SCRIPT = Documents.ROOT.resolve("lock").toString();
    private static final long LIMIT_OF_A_BUILD_SECONDS = 600;

    private final Path directory;
    private final String store;
    private final List<Started> started = new ArrayList<>();

    LockScript(Path directory, String store) {
        this.directory = directory;
        this.store = store;
    }

    /** What a new user waits for. It takes what this build has downloaded, but nothing of ours that somebody has installed. */
    static void buildIfNeedBe() throws IOException, InterruptedException {
        Path repository = Files.createTempDirectory("repository-without-ours");
        Path downloaded = Path.of(System.getProperty("latchkey.repository"));
        link(downloaded, repository, "dev");
        link(downloaded.resolve("dev"), Files.createDirectory(repository.resolve("dev")), "latchkey");
        ProcessBuilder builder = new ProcessBuilder(SCRIPT, "--version")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("MAVEN_ARGS", "-Dmaven.repo.local=" + repository);
        Process process = builder.start();
        boolean ended = process.waitFor(LIMIT_OF_A_BUILD_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();

        assertThat(ended).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    /** Links to all that is there but one. */
    private static void link(Path there, Path here, String butNot) throws IOException {
        if (!Files.exists(there)) {
            return;
        }
        try (Stream<Path> entries = Files.list(there)) {
            for (Path entry : entries.toList()) {
                if (!entry.endsWith(butNot)) {
                    Files.createSymbolicLink(here.resolve(entry.getFileName()), entry);
                }
            }
        }
    }

    record Started(Process process, Path out, Path err) {

        String printed() throws IOException {
            return Files.readString(out) + Files.readString(err);
        }

        int exitCode(long seconds) throws IOException, InterruptedException {
            assertThat(process.waitFor(seconds, TimeUnit.SECONDS))
                    .as("ended in time; printed: %s", printed())
                    .isTrue();
            return process.exitValue();
        }
    }

    Started start(String... arguments) throws IOException {
        return startWithKey(null, arguments);
    }

    Started startWithKey(@Nullable String key, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(SCRIPT));
        command.addAll(List.of(arguments));
        return start(command, key);
    }

    /** Starts it in a terminal; what is written to its input is typed. */
    Started startInTerminal(String line) throws IOException {
        return start(List.of("script", "-qec", "exec " + SCRIPT + " " + line, "/dev/null"), null);
    }

    private Started start(List<String> command, @Nullable String key) throws IOException {
        Path out = Files.createTempFile(directory, "out", "");
        Path err = Files.createTempFile(directory, "err", "");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("LATCHKEY_STORE", store);
        builder.environment().put("TERM", "xterm");
        if (key != null) {
            builder.environment().put("LATCHKEY_KEY", key);
        }
        Started process = new Started(builder.start(), out, err);
        started.add(process);
        return process;
    }

    /** Returns all that was printed so far, to stdout and to stderr. */
    String printed() throws IOException {
        StringBuilder all = new StringBuilder();
        for (Started each : started) {
            all.append(each.printed());
        }
        return all.toString();
    }

    @Override
    public void close() {
        for (Started each : started) {
            each.process().descendants().forEach(ProcessHandle::destroyForcibly);
            each.process().destroyForcibly();
        }
    }
}

package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A server of this machine that belongs to a test: on a free port, with a directory of its own, to be killed, frozen and
 * started again. It ends with this JVM at the latest. Not thread-safe, except that any thread may {@link #close()} it.
 */
final class LocalServer implements AutoCloseable {

    /** Tells when a server that was started takes orders. */
    interface Readiness {

        /**
         * Asks the server.
         *
         * @throws IOException if nobody answers
         */
        boolean isReady(ServerAddress address) throws IOException;
    }

    /**
     * What is run.
     *
     * @param name for directories and messages
     * @param launcher how
     * @param arguments of the program; {@code {port}} and {@code {directory}} stand for those of the server
     * @param readiness when it is up
     */
    record Plan(String name, Launcher launcher, List<String> arguments, Readiness readiness) {}

    /** For a server to answer one question, such as whether it is up. */
    static final int ANSWER_MILLIS =
            (int) TimeLimits.scaled(Duration.ofSeconds(5)).toMillis();

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final int LOG_SHOWN = 4_000;

    /** Where servers keep their files, if not where temporary files are: {@code ./verify} names a directory in memory. */
    private static final @Nullable String DIRECTORIES = System.getenv("LATCHKEY_TEST_DIRECTORIES");

    private final Plan plan;
    private final ServerAddress address;
    private final Path directory;
    private Launcher.Launched launched;
    private final Thread atExit = new Thread(this::end, "end-of-a-test-server");

    private LocalServer(Plan plan, ServerAddress address, Path directory) {
        this.plan = plan;
        this.address = address;
        this.directory = directory;
        this.launched = launch();
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    static LocalServer start(Plan plan) {
        return start(plan, ServerAddress.unused());
    }

    static LocalServer start(Plan plan, ServerAddress address) {
        LocalServer server = new LocalServer(plan, address, newDirectory(plan.name()));
        try {
            server.awaitReady();
            return server;
        } catch (AssertionError e) {
            server.close();
            throw e;
        }
    }

    ServerAddress address() {
        return address;
    }

    /** SIGKILL: nothing is flushed, nobody is told. */
    void kill() {
        launched.kill();
    }

    /** SIGSTOP: connections stay open, and nothing is answered. */
    void freeze() {
        launched.freeze();
    }

    /** SIGCONT. */
    void thaw() {
        launched.thaw();
    }

    /** Starts it again after {@link #kill()}, at the same address and with what it had written to its directory. */
    void restart() {
        if (launched.isAlive()) {
            throw new IllegalStateException("the server " + this + " runs");
        }
        launched = launch();
        awaitReady();
    }

    /** Starts it again after {@link #kill()}, at the same address and with an empty directory. */
    void restartEmpty() {
        deleteFiles();
        restart();
    }

    /** Returns all that it printed. */
    String log() {
        return launched.log();
    }

    private String endOfLog() {
        String all = log();
        return all.substring(Math.max(0, all.length() - LOG_SHOWN));
    }

    /** Kills it, and deletes its files. Idempotent. */
    @Override
    public void close() {
        if (Runtime.getRuntime().removeShutdownHook(atExit)) {
            end();
        }
    }

    private void end() {
        launched.kill();
        deleteFiles();
        try {
            Files.deleteIfExists(directory);
            Files.deleteIfExists(directory.resolveSibling(directory.getFileName() + ".log"));
            Files.deleteIfExists(directory.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException("could not delete " + directory, e);
        }
    }

    private Launcher.Launched launch() {
        List<String> arguments = new ArrayList<>();
        for (String argument : plan.arguments()) {
            arguments.add(argument.replace("{port}", Integer.toString(address.port()))
                    .replace("{directory}", directory.toString()));
        }
        return plan.launcher().launch(directory, arguments);
    }

    private void awaitReady() {
        try {
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .atMost(LIMIT)
                    .until(() -> !launched.isAlive() || isReady());
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(this + " was not ready within " + LIMIT + ": " + endOfLog(), e);
        }
        if (!launched.isAlive()) {
            throw new AssertionError(this + " ended at once: " + endOfLog());
        }
    }

    private boolean isReady() {
        try {
            return plan.readiness().isReady(address);
        } catch (IOException e) {
            return false;
        }
    }

    private void deleteFiles() {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!path.equals(directory)) {
                    Files.delete(path);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not empty " + directory, e);
        }
    }

    private static Path newDirectory(String name) {
        try {
            Path own = DIRECTORIES == null
                    ? Files.createTempDirectory("latchkey-")
                    : Files.createTempDirectory(Path.of(DIRECTORIES), "latchkey-");
            return Files.createDirectory(own.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException("no directory for a server's files", e);
        }
    }

    @Override
    public String toString() {
        return plan.name() + " at " + address + " by " + plan.launcher();
    }
}

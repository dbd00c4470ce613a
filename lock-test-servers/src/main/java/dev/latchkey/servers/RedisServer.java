package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs, in this order, what is there: a container where Docker answers, {@code redis-server} of this machine, the binary
 * in the artifact {@code com.github.codemonstur:embedded-redis}. The shared one may also be given by the environment.
 */
public final class RedisServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_REDIS";

    private RedisServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or a key prefix, of its own.
     *
     * @return the value of {@value #ENVIRONMENT}, or of a server that is started for the first who asks
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server that keeps nothing on disk.
     *
     * @param options more arguments of {@code redis-server}, such as {@code "--maxmemory", "3mb"}
     * @return the server, ready
     */
    public static RedisServer start(String... options) {
        return start(ServerAddress.unused(), List.of(options));
    }

    /**
     * Starts a server that has on disk whatever it has answered, and reads it when it starts again.
     *
     * @return the server, ready
     */
    public static RedisServer startDurable() {
        return start("--appendonly", "yes", "--appendfsync", "always");
    }

    /**
     * Starts a server of the oldest version that locks are kept on, 6.2: the one in the artifact embedded-redis.
     *
     * @return the server, ready; it keeps nothing on disk
     */
    public static RedisServer startOldest() {
        return new RedisServer(
                LocalServer.start(plan("redis", RedisLaunchers.oldest(), List.of()), ServerAddress.unused()));
    }

    static RedisServer start(ServerAddress address, List<String> options) {
        return new RedisServer(LocalServer.start(plan("redis", RedisLaunchers.chosen(), options), address));
    }

    static LocalServer.Plan plan(String name, Launcher launcher, List<String> options) {
        List<String> arguments =
                new ArrayList<>(List.of("--bind", "127.0.0.1", "--port", "{port}", "--dir", "{directory}"));
        arguments.addAll(List.of("--save", "", "--appendonly", "no", "--daemonize", "no"));
        arguments.addAll(options);
        return new LocalServer.Plan(name, launcher, arguments, RedisServer::answers);
    }

    static boolean answers(ServerAddress address) throws IOException {
        try (RedisConnection connection = RedisConnection.open(address)) {
            return connection.text("PING").equals("PONG");
        } catch (RedisRefusal | UncheckedIOException notYet) {
            return false;
        }
    }

    @Override
    public String dsn() {
        return "redis://" + address();
    }

    /**
     * Opens a plain connection.
     *
     * @return a connection, which the caller closes
     */
    public RedisConnection connect() {
        try {
            return RedisConnection.open(address());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot connect to " + server, e);
        }
    }

    /**
     * Has it run one command.
     *
     * @param words the command and its arguments
     * @return as {@link RedisConnection#call}
     */
    public @Nullable Object call(String... words) {
        try (RedisConnection connection = connect()) {
            return connection.call(words);
        }
    }

    /**
     * Has it run one command that answers with a text or a number.
     *
     * @param words the command and its arguments
     * @return the answer as text
     */
    public String text(String... words) {
        return String.valueOf(Objects.requireNonNull(call(words), words[0]));
    }

    /**
     * Freezes it for a while.
     *
     * @param length how long; an interrupted thread goes on at once
     */
    public void freezeFor(Duration length) {
        freeze();
        try {
            Thread.sleep(length.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            thaw();
        }
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start().dsn());
    }
}

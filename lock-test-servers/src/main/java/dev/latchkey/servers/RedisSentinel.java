package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.awaitility.Awaitility;

/**
 * A master, its replica, and a sentinel that makes the replica the master when the master has fallen silent and a test
 * {@linkplain #awaitFailover() waits for that}, within about three seconds.
 */
public final class RedisSentinel implements AutoCloseable {

    private static final String NAME = "latchkey";
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final RedisServer master;
    private final RedisServer replica;
    private final LocalServer sentinel;
    private final Path configuration;
    private final Optional<String> password;

    private RedisSentinel(
            RedisServer master,
            RedisServer replica,
            LocalServer sentinel,
            Path configuration,
            Optional<String> password) {
        this.master = master;
        this.replica = replica;
        this.sentinel = sentinel;
        this.configuration = configuration;
        this.password = password;
    }

    /**
     * Starts the three of them.
     *
     * @return ready: the replica is in step, and the sentinel knows it
     */
    public static RedisSentinel start() {
        return start(Optional.empty());
    }

    /**
     * Starts all three; the sentinel wants a password of its own, the servers want none.
     *
     * @param password of the sentinel, letters and digits
     * @return running servers, the replica in step
     */
    public static RedisSentinel startWithPassword(String password) {
        return start(Optional.of(password));
    }

    private static RedisSentinel start(Optional<String> password) {
        RedisServer master = RedisServer.start("--repl-diskless-sync-delay", "0");
        RedisServer replica = RedisServer.start(
                "--replicaof",
                master.address().host(),
                Integer.toString(master.address().port()));
        // A sentinel that sees the master before its replica hears of the replica only ten seconds later.
        Awaitility.await("the replica to be in step")
                .atMost(LIMIT)
                .until(() -> replica.text("INFO", "replication").contains("master_link_status:up"));
        Path configuration = configuration(master.address(), password);
        LocalServer sentinel = LocalServer.start(new LocalServer.Plan(
                "redis-sentinel",
                RedisLaunchers.chosen(),
                List.of(configuration.toString(), "--sentinel", "--bind", "127.0.0.1", "--port", "{port}"),
                address -> knowsTheReplica(address, password)));
        return new RedisSentinel(master, replica, sentinel, configuration, password);
    }

    private static Path configuration(ServerAddress master, Optional<String> password) {
        try {
            return Files.writeString(
                    Files.createTempFile("latchkey-sentinel-", ".conf"),
                    String.join(
                            "\n",
                            "sentinel monitor " + NAME + " " + master.host() + " " + master.port() + " 1",
                            // Nobody asked for a failover where the master only stops for a while, on a busy machine.
                            "sentinel down-after-milliseconds " + NAME + " 60000",
                            "sentinel failover-timeout " + NAME + " 3000",
                            password.map(word -> "requirepass " + word).orElse(""),
                            ""));
        } catch (IOException e) {
            throw new UncheckedIOException("could not write the configuration of a sentinel", e);
        }
    }

    private static boolean knowsTheReplica(ServerAddress address, Optional<String> password) throws IOException {
        try (RedisConnection connection = RedisConnection.open(address)) {
            password.ifPresent(word -> connection.text("AUTH", word));
            Object replicas = connection.call("SENTINEL", "REPLICAS", NAME);
            return replicas instanceof List<?> list && !list.isEmpty();
        } catch (RedisRefusal | UncheckedIOException notYet) {
            return false;
        }
    }

    /**
     * Returns what a store connects to.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public String dsn() {
        return "redis-sentinel://" + sentinel.address() + "/0#" + NAME;
    }

    /**
     * Returns where the sentinel listens.
     *
     * @return its address
     */
    public ServerAddress address() {
        return sentinel.address();
    }

    /**
     * Returns the server that is the master at first.
     *
     * @return the same throughout
     */
    public RedisServer master() {
        return master;
    }

    /**
     * Returns the server that is the replica at first.
     *
     * @return the same throughout
     */
    public RedisServer replica() {
        return replica;
    }

    /** Waits until what the master has written so far has reached the replica. */
    public void awaitInStep() {
        Awaitility.await("the replica to be in step")
                .atMost(LIMIT)
                .until(() -> offset(master).equals(offset(replica)));
    }

    private static String offset(RedisServer server) {
        return server.text("INFO", "replication")
                .lines()
                .filter(line -> line.startsWith("master_repl_offset:"))
                .findFirst()
                .orElseThrow();
    }

    /** Waits until the replica has become the master, also by the sentinel's word. The master is to be silent by now. */
    public void awaitFailover() {
        hasten();
        String wanted = Integer.toString(replica.address().port());
        Awaitility.await("the replica to become the master").atMost(LIMIT).until(() -> {
            try (RedisConnection connection = RedisConnection.open(sentinel.address())) {
                password.ifPresent(word -> connection.text("AUTH", word));
                Object master = connection.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
                Object role = Objects.requireNonNull(replica.call("ROLE"));
                return master instanceof List<?> address
                        && address.contains(wanted)
                        && role instanceof List<?> words
                        && "master".equals(words.get(0));
            } catch (UncheckedIOException notYet) {
                // A replica that is promoted closes its connections.
                return false;
            }
        });
    }

    /** From now on the sentinel takes a master for lost that has been silent for a second. */
    private void hasten() {
        try (RedisConnection connection = RedisConnection.open(sentinel.address())) {
            password.ifPresent(word -> connection.text("AUTH", word));
            String unused = connection.text("SENTINEL", "SET", NAME, "down-after-milliseconds", "1000");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot ask " + sentinel, e);
        }
    }

    /** Ends all three. */
    @Override
    public void close() {
        sentinel.close();
        replica.close();
        master.close();
        try {
            Files.deleteIfExists(configuration);
        } catch (IOException e) {
            throw new UncheckedIOException("could not delete " + configuration, e);
        }
    }
}

package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * An etcd server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs {@code etcd} of this machine. The shared one may also be given by the environment. It elects a leader within half a
 * second, and so grants leases from one second on; it keeps what it has answered when it is killed, for the system has written
 * it.
 */
public final class EtcdServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_ETCD";

    private static final String REMEDY =
            "\"apt-get install etcd-server\". Where a test needs no server of its own, also " + ENVIRONMENT
                    + "=etcd://host:port";

    private EtcdServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or a root, of its own.
     *
     * @return the value of {@value #ENVIRONMENT}, or of a server that is started for the first who asks; without a root
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server that is alone.
     *
     * @param options more arguments of {@code etcd}
     * @return the server, ready
     */
    public static EtcdServer start(String... options) {
        int peerPort = ServerAddress.unused().port();
        List<String> arguments = new ArrayList<>(List.of("--name", "alone"));
        arguments.addAll(peer(peerPort, peerPort));
        arguments.addAll(List.of("--initial-cluster", "alone=http://127.0.0.1:" + peerPort));
        arguments.addAll(List.of(options));
        return start(arguments, EtcdServer::isHealthy);
    }

    /**
     * Starts one server of a cluster, which does not serve before others are there.
     *
     * @param arguments more arguments, with its name and those of the cluster
     * @return the server, listening
     */
    static EtcdServer startWithoutWaiting(List<String> arguments) {
        return start(arguments, EtcdServer::listens);
    }

    /** Where it listens for other servers, and where they reach it. */
    static List<String> peer(int port, int advertised) {
        return List.of(
                "--listen-peer-urls",
                "http://127.0.0.1:" + port,
                "--initial-advertise-peer-urls",
                "http://127.0.0.1:" + advertised);
    }

    private static EtcdServer start(List<String> own, LocalServer.Readiness readiness) {
        return new EtcdServer(LocalServer.start(plan(Chosen.LAUNCHER, own, readiness)));
    }

    private static LocalServer.Plan plan(Launcher launcher, List<String> own, LocalServer.Readiness readiness) {
        List<String> arguments = new ArrayList<>(List.of(
                "--data-dir",
                "{directory}/data",
                "--listen-client-urls",
                "http://127.0.0.1:{port}",
                "--advertise-client-urls",
                "http://127.0.0.1:{port}",
                "--heartbeat-interval",
                "50",
                "--election-timeout",
                "500",
                "--unsafe-no-fsync"));
        arguments.addAll(own);
        return new LocalServer.Plan("etcd", launcher, arguments, readiness);
    }

    private static boolean isHealthy(ServerAddress address) throws IOException {
        return get(address, "/health").contains("\"true\"");
    }

    private static boolean listens(ServerAddress address) throws IOException {
        try (var socket = address.connect()) {
            return socket.isConnected();
        }
    }

    private static String get(ServerAddress address, String path) throws IOException {
        return answer(open(address, path));
    }

    private static HttpURLConnection open(ServerAddress address, String path) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://" + address + path).toURL().openConnection();
        connection.setConnectTimeout(LocalServer.ANSWER_MILLIS);
        connection.setReadTimeout(LocalServer.ANSWER_MILLIS);
        return connection;
    }

    private static String answer(HttpURLConnection connection) throws IOException {
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            connection.disconnect();
        }
    }

    @Override
    public String dsn() {
        return "etcd://" + address();
    }

    /**
     * Tells whether it is in a cluster that has a leader.
     *
     * @return false for one that does not answer
     */
    public boolean isHealthy() {
        try {
            return isHealthy(address());
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Tells whether it leads its cluster.
     *
     * @return false for one that follows, or does not answer
     */
    public boolean leads() {
        try {
            return metric("etcd_server_is_leader") == 1;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /**
     * Counts what clients have sent, also over streams.
     *
     * @return requests since it was started
     */
    public long requests() {
        return metric("grpc_server_msg_received_total");
    }

    /**
     * Counts what clients have sent to begin watches, and to end them.
     *
     * @return requests since it was started
     */
    public long watchRequests() {
        return metric("grpc_server_msg_received_total", "grpc_method=\"Watch\"");
    }

    /**
     * Counts the passwords that clients have sent.
     *
     * @return requests for a token since it was started
     */
    public long passwords() {
        return metric("grpc_server_msg_received_total", "grpc_method=\"Authenticate\"");
    }

    /**
     * Counts those who watch keys.
     *
     * @return watches over all streams
     */
    public long watchers() {
        return metric("etcd_debugging_mvcc_watcher_total");
    }

    /**
     * Counts those who watch keys and are told nothing yet, since they asked for what was before.
     *
     * @return watches over all streams
     */
    public long lateWatchers() {
        return metric("etcd_debugging_mvcc_slow_watcher_total");
    }

    /** The sum of a metric over all its labels. */
    private long metric(String name) {
        return metric(name, "");
    }

    /** The sum of a metric over the labels with a text in them. */
    private long metric(String name, String label) {
        try {
            return get(address(), "/metrics")
                    .lines()
                    .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                    .filter(line -> line.contains(label))
                    .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot ask " + server, e);
        }
    }

    /**
     * Has it run one request of the protocol, by its gateway.
     *
     * @param path such as {@code kv/compaction}
     * @param json the request
     * @return its answer
     */
    public String call(String path, String json) {
        try {
            HttpURLConnection connection = open(address(), "/v3/" + path);
            connection.setDoOutput(true);
            connection.getOutputStream().write(json.getBytes(StandardCharsets.UTF_8));
            return answer(connection);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot ask " + server, e);
        }
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start().dsn());
    }

    private static final class Chosen {

        static final Launcher LAUNCHER = new ServerSearch("etcd server", REMEDY)
                .or("etcd on this machine", () -> BinaryLauncher.find("etcd").map(found -> found))
                .first(launcher -> LocalServer.start(plan(
                                launcher,
                                List.of(
                                        "--listen-peer-urls",
                                        "http://127.0.0.1:"
                                                + ServerAddress.unused().port()),
                                EtcdServer::listens))
                        .close());
    }
}

package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A ZooKeeper server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs, in a JVM of its own, the server in the artifact {@code org.apache.zookeeper:zookeeper}, which is in the class path
 * of whoever tests a store that uses its client. The shared one may also be given by the environment. Its ticks are 200 ms
 * and it grants session timeouts from 400 ms on; it keeps what it has answered when it is killed, for the system has
 * written it.
 */
public final class ZooKeeperServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_ZOOKEEPER";

    /** What servers reckon with: a follower without word from its leader follows it for {@code syncLimit} of these. */
    public static final Duration TICK = Duration.ofMillis(200);

    private ZooKeeperServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or a root, of its own.
     *
     * @return the value of {@value #ENVIRONMENT}, or of a server that is started for the first who asks; without options
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server.
     *
     * @param settings more lines of its configuration, such as {@code "maxSessionTimeout=60000"}
     * @return the server, ready
     */
    public static ZooKeeperServer start(String... settings) {
        return start(List.of(settings), address -> ask(address, "srvr").contains("Mode: "));
    }

    /**
     * Starts one server of an ensemble, which does not serve before others are there.
     *
     * @param settings more lines of its configuration, with {@code myid} and the servers of the ensemble
     * @return the server, listening
     */
    public static ZooKeeperServer startWithoutWaiting(List<String> settings) {
        return start(settings, ZooKeeperServer::listens);
    }

    private static ZooKeeperServer start(List<String> settings, LocalServer.Readiness readiness) {
        ZooKeeperLauncher.checkArtifact();
        return new ZooKeeperServer(LocalServer.start(
                new LocalServer.Plan("zookeeper", new ZooKeeperLauncher(), lines(settings), readiness)));
    }

    private static boolean listens(ServerAddress address) throws IOException {
        return !ask(address, "srvr").isEmpty();
    }

    private static List<String> lines(List<String> settings) {
        List<String> lines = new ArrayList<>(List.of(
                "clientPort={port}",
                "clientPortAddress=127.0.0.1",
                "tickTime=" + TICK.toMillis(),
                "maxClientCnxns=0",
                "4lw.commands.whitelist=*"));
        lines.addAll(settings);
        return lines;
    }

    private static String ask(ServerAddress address, String word) throws IOException {
        try (Socket socket = address.connect()) {
            socket.setSoTimeout(LocalServer.ANSWER_MILLIS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    public String dsn() {
        return "zookeeper://" + address();
    }

    /**
     * Has it answer one of its commands of four letters.
     *
     * @param word such as {@code mntr}
     * @return all that it says
     */
    public String command(String word) {
        try {
            return ask(address(), word);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot ask " + server, e);
        }
    }

    /**
     * Counts what clients have sent, pings and this question included.
     *
     * @return since it was started
     */
    public long packetsReceived() {
        return command("srvr")
                .lines()
                .filter(line -> line.startsWith("Received: "))
                .mapToLong(line -> Long.parseLong(line.substring("Received: ".length())))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Tells whether it leads its ensemble.
     *
     * @return false for one that follows, or stands alone, or does not serve
     */
    public boolean leads() {
        try {
            return ask(address(), "srvr").contains("Mode: leader");
        } catch (IOException e) {
            return false;
        }
    }

    private static final class Shared {

        /** It would shorten the session of a DSN to 4 s. */
        static final String DSN =
                shared(ENVIRONMENT, () -> start("maxSessionTimeout=60000").dsn());
    }
}

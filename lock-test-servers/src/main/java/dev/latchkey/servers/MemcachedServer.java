package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A Memcached server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs, in this order, what is there: a container where Docker answers, {@code memcached} of this machine. The shared one
 * may also be given by the environment.
 */
public final class MemcachedServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_MEMCACHED";

    private static final String IMAGE = "memcached:1.6-alpine";
    private static final String REMEDY =
            "\"apt-get install memcached\"; a running Docker engine, with org.testcontainers:testcontainers among the test"
                    + " dependencies. Where a test needs no server of its own, also " + ENVIRONMENT
                    + "=memcached://host:port";

    private MemcachedServer(LocalServer server) {
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
     * Starts a server with 64 MB.
     *
     * @param options more arguments of {@code memcached}, such as {@code "-m", "1"}
     * @return the server, ready
     */
    public static MemcachedServer start(String... options) {
        return new MemcachedServer(LocalServer.start(plan("memcached", Chosen.LAUNCHER, List.of(options))));
    }

    private static LocalServer.Plan plan(String name, Launcher launcher, List<String> options) {
        List<String> arguments = new ArrayList<>(List.of("-l", "127.0.0.1", "-p", "{port}", "-U", "0", "-t", "2"));
        // As root it wants to be told to stay so; as anybody else it takes no notice.
        arguments.addAll(List.of("-u", System.getProperty("user.name")));
        arguments.addAll(options);
        return new LocalServer.Plan(name, launcher, arguments, MemcachedServer::answers);
    }

    private static boolean answers(ServerAddress address) throws IOException {
        return call(address, "version").get(0).startsWith("VERSION ");
    }

    @Override
    public String dsn() {
        return "memcached://" + address();
    }

    /**
     * Has it run one command of the text protocol.
     *
     * @param lines the command, and the value if it takes one
     * @return the lines of its answer
     */
    public List<String> call(String... lines) {
        try {
            return call(address(), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(server + " did not answer", e);
        }
    }

    private static List<String> call(ServerAddress address, String... lines) throws IOException {
        try (Socket socket = address.connect()) {
            socket.setSoTimeout(LocalServer.ANSWER_MILLIS);
            String request = String.join("\r\n", lines) + "\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            List<String> answer = new ArrayList<>();
            do {
                answer.add(Optional.ofNullable(in.readLine())
                        .orElseThrow(() -> new IOException("the connection was closed in an answer")));
            } while (!isEnd(lines[0], answer.get(answer.size() - 1)));
            return answer;
        }
    }

    private static boolean isEnd(String command, String line) {
        boolean hasManyLines = command.startsWith("stats") || command.startsWith("get");
        return !hasManyLines || line.equals("END") || line.contains("ERROR");
    }

    /**
     * Returns what it tells of itself.
     *
     * @return its general statistics by name
     */
    public Map<String, String> statistics() {
        Map<String, String> statistics = new TreeMap<>();
        for (String line : call("stats")) {
            String[] words = line.split(" ", 3);
            if (words.length == 3) {
                statistics.put(words[1], words[2]);
            }
        }
        return statistics;
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start().dsn());
    }

    private static final class Chosen {

        static final Launcher LAUNCHER = new ServerSearch("Memcached server", REMEDY)
                .or("Docker", Chosen::docker)
                .or(
                        "memcached on this machine",
                        () -> BinaryLauncher.find("memcached").map(found -> found))
                .first(launcher -> LocalServer.start(plan("memcached-trial", launcher, List.of()))
                        .close());

        private static Optional<Launcher> docker() {
            return Docker.isAvailable() ? Optional.of(new DockerLauncher(IMAGE, "memcached")) : Optional.empty();
        }
    }
}

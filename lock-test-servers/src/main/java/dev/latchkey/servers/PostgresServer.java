package dev.latchkey.servers;

import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.ServerAddress;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A PostgreSQL server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs, in this order, what is there: a container where Docker answers, {@code postgres} of this machine (the newest of
 * {@code /usr/lib/postgresql}, else the one on the path). The shared one may also be given by the environment. The only
 * user is {@code postgres}, without a password; the only database has the same name. What it has committed survives
 * {@link #kill()}, though not a failure of the machine.
 */
public final class PostgresServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_POSTGRES";

    private static final int PROTOCOL_3 = 196_608;

    private PostgresServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or tables, of its own.
     *
     * @return {@code postgresql://user:password@host:port/database}, the value of {@value #ENVIRONMENT}, or that of a
     *     server that is started for the first who asks
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server with an empty database.
     *
     * @param settings as in {@code postgresql.conf}, such as {@code "log_statement=all"}
     * @return the server, ready
     */
    public static PostgresServer start(String... settings) {
        return new PostgresServer(LocalServer.start(plan("postgres", PostgresLaunchers.chosen(), List.of(settings))));
    }

    static LocalServer.Plan plan(String name, Launcher launcher, List<String> settings) {
        List<String> all = new ArrayList<>(List.of("listen_addresses=127.0.0.1", "port={port}", "max_connections=300"));
        // No test cuts the power of the machine: what was written survives the end of the server without fsync.
        all.addAll(List.of("fsync=off", "full_page_writes=off"));
        // In its directory, which is deleted: elsewhere, what a killed server had stays.
        all.add("dynamic_shared_memory_type=mmap");
        all.addAll(settings);
        List<String> arguments = new ArrayList<>();
        all.forEach(setting -> arguments.addAll(List.of("-c", setting)));
        return new LocalServer.Plan(name, launcher, arguments, PostgresServer::isReady);
    }

    /** Asks to be let in as the driver does; a server that starts or recovers refuses. */
    static boolean isReady(ServerAddress address) throws IOException {
        byte[] who = ("user\0" + PostgresLaunchers.USER + "\0\0").getBytes(StandardCharsets.US_ASCII);
        try (Socket socket = address.connect()) {
            socket.setSoTimeout(LocalServer.ANSWER_MILLIS);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(8 + who.length);
            out.writeInt(PROTOCOL_3);
            out.write(who);
            return new DataInputStream(socket.getInputStream()).readByte() == 'R';
        }
    }

    /**
     * Returns what a store connects to.
     *
     * @return {@code postgresql://postgres@host:port/postgres}
     */
    @Override
    public String dsn() {
        return dsn(address());
    }

    /**
     * Returns what a store connects to that reaches a server by another way, such as a {@link FaultProxy}.
     *
     * @param address where it is reached
     * @return {@code postgresql://postgres@host:port/postgres}
     */
    public static String dsn(ServerAddress address) {
        return "postgresql://" + PostgresLaunchers.USER + "@" + address + "/" + PostgresLaunchers.USER;
    }

    /**
     * Returns what a driver connects to.
     *
     * @return {@code jdbc:postgresql://host:port/postgres?user=postgres}
     */
    public String jdbcUrl() {
        return jdbcUrl(dsn());
    }

    /**
     * Returns a DSN as the driver wants it.
     *
     * @param dsn {@code postgresql://user:password@host:port/database}, with or without a password or a query; what is in
     *     it is neither encoded nor decoded
     * @return {@code jdbc:postgresql://host:port/database?user=…&password=…}
     */
    public static String jdbcUrl(String dsn) {
        String rest = dsn.substring(dsn.indexOf("://") + "://".length());
        int at = rest.lastIndexOf('@');
        String url = "jdbc:postgresql://" + rest.substring(at + 1);
        if (at < 0) {
            return url;
        }
        String[] credentials = rest.substring(0, at).split(":", 2);
        String password = credentials.length == 2 ? "&password=" + credentials[1] : "";
        return url + (url.indexOf('?') < 0 ? "?" : "&") + "user=" + credentials[0] + password;
    }

    /**
     * Opens a plain connection, with the driver that the module under test has.
     *
     * @return a connection in autocommit, which the caller closes
     * @throws SQLException if nothing answers there
     */
    public Connection connect() throws SQLException {
        return Objects.requireNonNull(DriverManager.getConnection(jdbcUrl()), "the driver's connection");
    }

    /**
     * Returns what it has printed, over all its lives: its log.
     *
     * @return lines
     */
    public List<String> log() {
        return server.log().lines().toList();
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start().dsn());
    }
}

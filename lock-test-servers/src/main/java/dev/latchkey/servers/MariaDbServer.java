package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A MariaDB server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs {@code mariadbd} of this machine. The shared one may also be given by the environment. The user is {@code root},
 * without a password; the database is called {@code test}.
 */
public final class MariaDbServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_MARIADB";

    private static final String REMEDY =
            "\"apt-get install mariadb-server\". Where a test needs no server of its own, also " + ENVIRONMENT
                    + "=mariadb://user:password@host:port/database";
    private static final int PROTOCOL_10 = 10;

    /** A directory for each: a server that starts deletes what it takes for temporary tables of a dead one. */
    private static final String TEMPORARY = "tmp";

    /** By default it is 96 MiB from the first day: most of what is copied for each server. */
    private static final String LOG_SIZE = "--innodb-log-file-size=8M";

    private MariaDbServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or tables, of its own.
     *
     * @return the value of {@value #ENVIRONMENT}, or that of a server that is started for the first who asks
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server with an empty database.
     *
     * @param options more arguments of {@code mariadbd}, such as {@code "--general-log"}
     * @return the server, ready
     */
    public static MariaDbServer start(String... options) {
        return new MariaDbServer(LocalServer.start(plan("mariadb", Chosen.LAUNCHER, List.of(options))));
    }

    private static LocalServer.Plan plan(String name, Launcher launcher, List<String> options) {
        List<String> arguments =
                new ArrayList<>(List.of("--no-defaults", "--datadir={directory}/data", "--port={port}"));
        arguments.addAll(List.of("--bind-address=127.0.0.1", "--socket={directory}/socket", "--user=" + user()));
        arguments.addAll(List.of("--pid-file={directory}/pid", "--skip-log-bin", "--skip-name-resolve"));
        arguments.add("--tmpdir={directory}/" + TEMPORARY);
        // No test cuts the power of the machine: what was written survives the end of the server without a flush.
        arguments.addAll(List.of("--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=2"));
        arguments.add(LOG_SIZE);
        arguments.addAll(options);
        return new LocalServer.Plan(name, launcher, arguments, MariaDbServer::greets);
    }

    private static boolean greets(ServerAddress address) throws IOException {
        try (Socket socket = address.connect()) {
            socket.setSoTimeout(LocalServer.ANSWER_MILLIS);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.readInt();
            return in.readByte() == PROTOCOL_10;
        }
    }

    private static String user() {
        return System.getProperty("user.name");
    }

    /**
     * Returns what a store connects to.
     *
     * @return {@code mariadb://root@host:port/test?sslMode=disable}
     */
    @Override
    public String dsn() {
        return "mariadb://root@" + address() + "/test?sslMode=disable";
    }

    /**
     * Returns what it has printed, over all its lives: its error log.
     *
     * @return lines
     */
    public List<String> log() {
        return server.log().lines().toList();
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start().dsn());
    }

    private static final class Chosen {

        static final Launcher LAUNCHER = new ServerSearch("MariaDB server", REMEDY)
                .or("mariadbd on this machine", Chosen::local)
                .first(launcher -> LocalServer.start(plan("mariadb-trial", launcher, List.of()))
                        .close());

        private static Optional<Launcher> local() {
            return BinaryLauncher.find("mariadbd")
                    .flatMap(server -> BinaryLauncher.find("mariadb-install-db")
                            .map(install -> new Local(server, install.program())));
        }
    }

    /** A program of this machine, which needs its system tables made first. */
    private record Local(BinaryLauncher server, Path install) implements Launcher {

        @Override
        public Launched launch(Path directory, List<String> arguments) {
            Path data = directory.resolve("data");
            if (!Files.exists(data)) {
                try {
                    Files.createDirectory(data);
                    Files.createDirectory(directory.resolve(TEMPORARY));
                } catch (IOException e) {
                    throw new UncheckedIOException("no directories for a database", e);
                }
                DataTemplate.of(install, options()).fill(data, () -> makeTables(data, directory.resolve(TEMPORARY)));
            }
            return server.launch(directory, arguments);
        }

        private static List<String> options() {
            return List.of(
                    "--user=" + user(), "--auth-root-authentication-method=normal", "--skip-name-resolve", LOG_SIZE);
        }

        private void makeTables(Path data, Path temporary) {
            List<String> command = new ArrayList<>(List.of(install.toString(), "--no-defaults", "--datadir=" + data));
            command.addAll(options());
            command.add("--tmpdir=" + temporary);
            try {
                Process made =
                        new ProcessBuilder(command).redirectErrorStream(true).start();
                String printed = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (made.waitFor() != 0) {
                    throw new AssertionError(command + " failed: " + printed);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("could not run " + command, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while a database was made", e);
            }
        }

        @Override
        public String toString() {
            return server.toString();
        }
    }
}

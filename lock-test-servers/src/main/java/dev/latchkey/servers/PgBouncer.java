package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;

/**
 * A pooler in transaction mode before a server: needs "apt-get install pgbouncer".
 *
 * @param process the pooler
 * @param address where it listens
 */
public record PgBouncer(Process process, ServerAddress address) implements AutoCloseable {

    /**
     * Starts it with its configuration and log in a directory.
     *
     * @param server the PostgreSQL server behind it
     * @param directory for this pooler alone
     * @return the pooler, which answers
     * @throws IOException if it could not be started
     */
    public static PgBouncer start(ServerAddress server, Path directory) throws IOException {
        ServerAddress address = ServerAddress.unused();
        Path configuration = directory.resolve("pgbouncer.ini");
        Files.writeString(configuration, """
                [databases]
                postgres = host=%s port=%d user=postgres
                [pgbouncer]
                listen_addr = %s
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                ignore_startup_parameters = extra_float_digits
                """.formatted(server.host(), server.port(), address.host(), address.port()));
        List<String> command = new ArrayList<>();
        if ("root".equals(System.getProperty("user.name"))) {
            // It will not run as root, and must be able to read its configuration.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            command.addAll(List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"));
        }
        command.addAll(List.of("pgbouncer", configuration.toString()));
        PgBouncer started = new PgBouncer(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("pgbouncer.log").toFile())
                        .start(),
                address);
        Awaitility.await("pgbouncer").atMost(TimeLimits.LIMIT).until(started::answers);
        return started;
    }

    /**
     * Returns the URL of the server's database through the pooler.
     *
     * @return with a question mark in it
     */
    public String jdbcUrl() {
        return PostgresServer.jdbcUrl(PostgresServer.dsn(address));
    }

    /**
     * Connects through the pooler.
     *
     * @return a connection
     * @throws SQLException if there is none
     */
    public Connection connect() throws SQLException {
        return Objects.requireNonNull(DriverManager.getConnection(jdbcUrl()));
    }

    private boolean answers() {
        try (Connection connection = connect()) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

package dev.latchkey.jdbc;

import dev.latchkey.servers.Docker;
import java.util.Map;
import java.util.Optional;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * Databases that no package of this machine brings: their tests run on the server the environment names, or in a container
 * where Docker answers. Where neither is there they do not run, and say so.
 */
final class ContainerDatabase {
    static final ContainerDatabase MYSQL = new ContainerDatabase(
            "MySQL",
            "LATCHKEY_TEST_MYSQL",
            "mysql:8.4",
            3306,
            Map.of("MYSQL_ROOT_PASSWORD", "latchkey-1", "MYSQL_DATABASE", "locks"),
            ".*ready for connections.*port: 3306.*",
            "jdbc:mysql://%s:%d/locks?user=root&password=latchkey-1&allowPublicKeyRetrieval=true&sslMode=DISABLED");

    static final ContainerDatabase SQLSERVER = new ContainerDatabase(
            "SQL Server",
            "LATCHKEY_TEST_SQLSERVER",
            "mcr.microsoft.com/mssql/server:2022-latest",
            1433,
            Map.of("ACCEPT_EULA", "Y", "MSSQL_SA_PASSWORD", "Latchkey-1"),
            ".*SQL Server is now ready for client connections.*",
            "jdbc:sqlserver://%s:%d;user=sa;password=Latchkey-1;encrypt=false");

    static final ContainerDatabase ORACLE = new ContainerDatabase(
            "Oracle",
            "LATCHKEY_TEST_ORACLE",
            "gvenzl/oracle-free:23-slim-faststart",
            1521,
            Map.of("ORACLE_PASSWORD", "latchkey-1", "APP_USER", "locks", "APP_USER_PASSWORD", "latchkey-1"),
            ".*DATABASE IS READY TO USE!.*",
            "jdbc:oracle:thin:locks/latchkey-1@//%s:%d/FREEPDB1");

    private final String name;
    private final String environment;
    private final String image;
    private final int port;
    private final Map<String, String> settings;
    private final String readyLine;
    private final String url;
    private Optional<String> found = Optional.empty();

    private ContainerDatabase(
            String name,
            String environment,
            String image,
            int port,
            Map<String, String> settings,
            String readyLine,
            String url) {
        this.name = name;
        this.environment = environment;
        this.image = image;
        this.port = port;
        this.settings = settings;
        this.readyLine = readyLine;
        this.url = url;
    }

    /** Called by JUnit before anything of the test class is. */
    boolean isThere() {
        boolean given = System.getenv(environment) != null;
        if (given || Docker.isAvailable()) {
            return true;
        }
        System.err.println("NOT RUN: the contracts on " + name + ". To run them, start Docker, or set " + environment
                + " to a DSN, such as " + String.format(url, "host", port));
        return false;
    }

    String dsn() {
        if (found.isEmpty()) {
            String given = System.getenv(environment);
            found = Optional.of(given != null ? given : start());
        }
        return found.get();
    }

    /** Ended by Testcontainers when this JVM ends. */
    @SuppressWarnings("resource")
    private String start() {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
                .withEnv(settings)
                .withExposedPorts(port)
                .waitingFor(Wait.forLogMessage(readyLine, 1));
        container.start();
        return String.format(url, container.getHost(), container.getMappedPort(port));
    }
}

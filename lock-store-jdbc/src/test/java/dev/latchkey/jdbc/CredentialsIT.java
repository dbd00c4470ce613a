package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers that let a user in with its password alone, over TLS alone, and to a table that is there, as those of companies do. */
class CredentialsIT {

    private static final String RIGHTS = "GRANT SELECT, INSERT, UPDATE, DELETE ON latchkey_lock TO ";

    /** Not JUnit's, into which the user of the server cannot look. */
    private Path directory = Path.of("");

    @BeforeEach
    void makeDirectory() throws Exception {
        directory = Files.createTempDirectory("latchkey-credentials");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void deleteDirectory() throws Exception {
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    @Test
    void givenPostgresThatDemandsThem_whenAcquired_thenHeldWithThePasswordOverTlsAndDeniedWithoutEither()
            throws Exception {
        try (PostgresServer server = postgres();
                JdbcStore owner = Stores.open(server.dsn());
                Connection admin = server.connect();
                Statement statement = admin.createStatement()) {
            owner.createTable();
            statement.execute("CREATE ROLE guest LOGIN PASSWORD 'right-secret'");
            statement.execute(RIGHTS + "guest");

            String dsn = "postgresql://guest:right-secret@" + server.address() + "/postgres?sslmode=";
            assertHolds(dsn + "require");
            assertHolds(dsn + "verify-ca&sslrootcert=" + directory.resolve("certificate.pem"));
            assertDenied(dsn.replace("right", "wrong") + "require");
            assertDenied(dsn + "disable");
        }
    }

    @Test
    void givenMariaDbThatDemandsThem_whenAcquired_thenHeldWithThePasswordOverTlsAndDeniedWithoutEither()
            throws Exception {
        Certificate certificate = Certificate.makeIn(directory);
        try (MariaDbServer server = MariaDbServer.start(
                        "--ssl-cert=" + certificate.certificate(), "--ssl-key=" + certificate.key());
                JdbcStore owner = Stores.open(server.dsn());
                Connection admin = DriverManager.getConnection(
                        "jdbc:mariadb://" + server.address() + "/test?user=root&sslMode=disable");
                Statement statement = admin.createStatement()) {
            owner.createTable();
            statement.execute("CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'right-secret' REQUIRE SSL");
            statement.execute(RIGHTS + "guest@'127.0.0.1'");

            String dsn = "mariadb://guest:right-secret@" + server.address() + "/test?sslMode=";
            assertHolds(dsn + "trust");
            assertHolds(dsn + "verify-ca&serverSslCert=" + certificate.certificate());
            assertDenied(dsn.replace("right", "wrong") + "trust");
            assertDenied(dsn + "disable");
        }
    }

    private PostgresServer postgres() throws Exception {
        Certificate certificate = Certificate.makeIn(directory);
        if ("root".equals(System.getProperty("user.name"))) {
            // The server gives up root, and reads no key that others may read.
            Files.setOwner(
                    certificate.key(),
                    FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName("postgres"));
        }
        Path rules = Files.writeString(
                directory.resolve("hba.conf"),
                "host all postgres 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n");
        return PostgresServer.start(
                "ssl=on",
                "ssl_cert_file=" + certificate.certificate(),
                "ssl_key_file=" + certificate.key(),
                "hba_file=" + rules);
    }

    /** Without the right to create a table, which is not asked for if there is one. */
    private static void assertHolds(String dsn) {
        try (JdbcStore store = Pools.open(Dsn.parse(dsn), JdbcStore.Builder::existingTable);
                LockFactory locks = new LockFactory(store)) {
            assertThat(locks.createLock("report").tryAcquire()).isTrue();
            assertThat(locks.createLock("report").tryAcquire()).isFalse();
        }
        try (JdbcStore store = Stores.open(dsn);
                LockFactory locks = new LockFactory(store)) {
            assertThat(locks.createLock("report").tryAcquire()).isTrue();
        }
    }

    private static void assertDenied(String dsn) {
        try (JdbcStore store = Stores.open(dsn);
                LockFactory locks = new LockFactory(store)) {
            assertThatExceptionOfType(LockStorageException.class)
                    .isThrownBy(() -> locks.createLock("report").tryAcquire())
                    .satisfies(failure -> assertThat(failure.failure()).isEqualTo(Failure.DENIED))
                    .satisfies(failure -> assertThat(failure.getMessage()).doesNotContain("secret"));
        }
    }
}

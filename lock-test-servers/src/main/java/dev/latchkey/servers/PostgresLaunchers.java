package dev.latchkey.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds out, once per JVM, how PostgreSQL servers are started here. */
final class PostgresLaunchers {

    static final String USER = "postgres";

    private static final String IMAGE = "postgres:17-alpine";
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");
    private static final String REMEDY =
            "\"apt-get install postgresql\"; a running Docker engine, with org.testcontainers:testcontainers among the test"
                    + " dependencies. Where a test needs no server of its own, also " + PostgresServer.ENVIRONMENT
                    + "=postgresql://user:password@host:port/database";

    private PostgresLaunchers() {}

    static Launcher chosen() {
        return Chosen.LAUNCHER;
    }

    private static Launcher search() {
        return new ServerSearch("PostgreSQL server", REMEDY)
                .or("Docker", PostgresLaunchers::docker)
                .or("postgres on this machine", () -> binary().map(Local::new))
                .first(launcher -> LocalServer.start(PostgresServer.plan("postgres-trial", launcher, List.of()))
                        .close());
    }

    private static Optional<Launcher> docker() {
        return Docker.isAvailable() ? Optional.of(new Image(new DockerLauncher(IMAGE, "env"))) : Optional.empty();
    }

    /** The newest version of those that Debian keeps beside each other, else what is on the path. */
    private static Optional<Path> binary() {
        if (!Files.isDirectory(DEBIAN)) {
            return BinaryLauncher.find("postgres").map(BinaryLauncher::program);
        }
        try (Stream<Path> versions = Files.list(DEBIAN)) {
            return versions.map(version -> version.resolve("bin/postgres"))
                    .filter(Files::isExecutable)
                    .max(Comparator.comparingInt(PostgresLaunchers::major));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look into " + DEBIAN, e);
        }
    }

    private static int major(Path program) {
        try {
            return Integer.parseInt(DEBIAN.relativize(program).getName(0).toString());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static final class Chosen {
        static final Launcher LAUNCHER = search();
    }

    /** The image makes the data directory itself, and gives up root. */
    private record Image(DockerLauncher docker) implements Launcher {

        @Override
        public Launched launch(Path directory, List<String> arguments) {
            List<String> all = new ArrayList<>(List.of("PGDATA=" + directory, "POSTGRES_HOST_AUTH_METHOD=trust"));
            all.addAll(List.of("docker-entrypoint.sh", "postgres"));
            all.addAll(arguments);
            return docker.launch(directory, all);
        }

        @Override
        public String toString() {
            return docker.toString();
        }
    }

    /** A program of this machine, which will not run as root. */
    private record Local(Path program) implements Launcher {

        /** Its log begins with one segment, of 16 MiB if nothing is said: the half of what is copied for each server. */
        private static final List<String> OPTIONS = List.of(
                "--username",
                USER,
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
                "--no-locale",
                "--no-sync",
                "--wal-segsize=1");

        @Override
        public Launched launch(Path directory, List<String> arguments) {
            if (isRoot()) {
                giveTo(directory);
            }
            if (!Files.exists(directory.resolve("PG_VERSION"))) {
                DataTemplate.of(initdb(), OPTIONS).fill(directory, () -> makeCluster(directory));
            }
            List<String> all = new ArrayList<>(List.of("-D", directory.toString()));
            // The default directory of its socket may be missing, and nobody asks for it.
            all.addAll(List.of("-c", "unix_socket_directories="));
            all.addAll(arguments);
            return new LocalPostgres(new BinaryLauncher(program, prefix()).launch(directory, all), directory);
        }

        private Path initdb() {
            return program.resolveSibling("initdb");
        }

        private void makeCluster(Path directory) {
            List<String> command = new ArrayList<>(prefix());
            command.addAll(List.of(initdb().toString(), "--pgdata", directory.toString()));
            command.addAll(OPTIONS);
            try {
                Process initdb =
                        new ProcessBuilder(command).redirectErrorStream(true).start();
                String printed =
                        new String(initdb.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
                if (initdb.waitFor() != 0) {
                    throw new AssertionError(command + " failed: " + printed);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("could not run " + command, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while a database was made", e);
            }
        }

        private static boolean isRoot() {
            return "root".equals(System.getProperty("user.name"));
        }

        private static List<String> prefix() {
            return isRoot()
                    ? List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups", "--")
                    : List.of();
        }

        private static void giveTo(Path directory) {
            try {
                Files.setPosixFilePermissions(directory.getParent(), PosixFilePermissions.fromString("rwx--x--x"));
                Files.setOwner(
                        directory,
                        FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(USER));
            } catch (IOException e) {
                throw new UncheckedIOException("cannot give " + directory + " to the user " + USER, e);
            }
        }

        @Override
        public String toString() {
            return program.toString();
        }
    }
}

package dev.latchkey.servers;

import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs dynalite by Node.js. The first start on a machine installs it, in the versions of {@code package-lock.json}, below the
 * cache directory of the user; npm runs no script of a package.
 */
record DynaliteLauncher() implements Launcher {

    private static final String RESOURCES = "dynalite/";
    private static final String SCRIPT = "server.js";
    private static final List<String> FILES = List.of("package.json", "package-lock.json", SCRIPT);
    private static final String REMEDY = " for the DynamoDB server of this test: install Node.js 20 or newer with npm,"
            + " or name a server in " + DynamoDbServer.ENVIRONMENT + " where a test needs none of its own";

    @Override
    public Launched launch(Path directory, List<String> arguments) {
        List<String> command =
                new ArrayList<>(List.of(Installed.DIRECTORY.resolve(SCRIPT).toString()));
        command.addAll(arguments);
        return program("node").launch(directory, command);
    }

    private static BinaryLauncher program(String name) {
        return BinaryLauncher.find(name).orElseThrow(() -> new AssertionError("no " + name + REMEDY));
    }

    @Override
    public String toString() {
        return "dynalite";
    }

    /** Once for each JVM; several may try at once, and the first one that is done serves all. */
    private static final class Installed {

        static final Path DIRECTORY = install();

        private static Path install() {
            try {
                Path cache = Path.of(System.getProperty("user.home"), ".cache", "latchkey");
                Path wanted = cache.resolve("dynalite-" + fingerprint());
                if (!Files.isDirectory(wanted)) {
                    Files.createDirectories(cache);
                    Path fresh = Files.createTempDirectory(cache, "dynalite-");
                    fill(fresh);
                    move(fresh, wanted);
                }
                return wanted;
            } catch (IOException e) {
                throw new UncheckedIOException("could not install dynalite", e);
            }
        }

        private static String fingerprint() throws IOException {
            int all = 0;
            for (String file : FILES) {
                all = 31 * all + new String(content(file), StandardCharsets.UTF_8).hashCode();
            }
            return HexFormat.of().toHexDigits(all);
        }

        private static byte[] content(String file) throws IOException {
            try (InputStream in = DynaliteLauncher.class.getResourceAsStream(RESOURCES + file)) {
                if (in == null) {
                    throw new AssertionError(RESOURCES + file + " is missing beside " + DynaliteLauncher.class);
                }
                return in.readAllBytes();
            }
        }

        private static void fill(Path directory) throws IOException {
            for (String file : FILES) {
                Files.write(directory.resolve(file), content(file));
            }
            Process npm = new ProcessBuilder(
                            program("npm").toString(), "ci", "--ignore-scripts", "--no-audit", "--no-fund")
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("npm.log").toFile())
                    .start();
            if (!hasEnded(npm) || npm.exitValue() != 0) {
                npm.destroyForcibly();
                throw new AssertionError("npm could not install dynalite" + REMEDY + ": "
                        + Files.readString(directory.resolve("npm.log")));
            }
        }

        private static boolean hasEnded(Process npm) {
            try {
                return npm.waitFor(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while npm installed dynalite", e);
            }
        }

        private static void move(Path fresh, Path wanted) throws IOException {
            try {
                Files.move(fresh, wanted, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                throw e;
            } catch (FileSystemException e) {
                // Another process was first.
                delete(fresh);
            }
        }

        private static void delete(Path directory) throws IOException {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}

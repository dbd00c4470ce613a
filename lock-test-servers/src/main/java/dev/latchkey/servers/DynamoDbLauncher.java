package dev.latchkey.servers;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs DynamoDB Local in a JVM of its own, by the class path that the build of this module has written down. */
record DynamoDbLauncher() implements Launcher {

    private static final String MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner";
    private static final String CLASS_PATH = "dynamodb-local.classpath";

    @Override
    public Launched launch(Path directory, List<String> arguments) {
        String classPath = classPath();
        List<String> command = new ArrayList<>(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Dsqlite4java.library.path=" + nativeLibrary(classPath),
                "-cp",
                classPath,
                MAIN));
        command.addAll(arguments);
        return new BinaryLauncher(Path.of(System.getProperty("java.home"), "bin", "java")).launch(directory, command);
    }

    private static String classPath() {
        try (InputStream in = DynamoDbLauncher.class.getResourceAsStream(CLASS_PATH)) {
            if (in == null) {
                throw new AssertionError("no DynamoDB server for this test: " + CLASS_PATH
                        + " is missing. Build lock-test-servers by Maven: \"./mvnw install -pl lock-test-servers\"");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("could not read " + CLASS_PATH, e);
        }
    }

    /** The directory of the native SQLite of this platform; there is none for ARM. */
    private static String nativeLibrary(String classPath) {
        return Stream.of(classPath.split(File.pathSeparator, -1))
                .filter(entry -> entry.contains("libsqlite4java-linux-amd64") || entry.contains("libsqlite4java-osx"))
                .map(entry -> Path.of(entry).toAbsolutePath().resolveSibling("").toString())
                .reduce((one, other) -> one + File.pathSeparator + other)
                .orElseThrow(() -> new AssertionError("DynamoDB Local without its native library: " + classPath));
    }

    @Override
    public String toString() {
        return MAIN;
    }
}

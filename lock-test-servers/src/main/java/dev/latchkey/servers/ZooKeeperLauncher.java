package dev.latchkey.servers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs ZooKeeper from the class path of the tests, in a JVM of its own. What it is given are the lines of its configuration;
 * {@code myid=…} and {@code znode.container.…} go where the server expects them.
 */
record ZooKeeperLauncher() implements Launcher {

    static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

    private static final String ID = "myid=";

    /** How the server removes unused containers is not for its configuration to say. */
    private static final String CONTAINERS = "znode.container.";

    private static final String REMEDY =
            "the test dependencies org.apache.zookeeper:zookeeper, io.dropwizard.metrics:metrics-core and"
                    + " org.xerial.snappy:snappy-java. Where a test needs no server of its own, also "
                    + ZooKeeperServer.ENVIRONMENT + "=zookeeper://host:port";

    static void checkArtifact() {
        for (String needed : List.of(MAIN, "com.codahale.metrics.Reservoir", "org.xerial.snappy.SnappyInputStream")) {
            try {
                Class.forName(needed, false, ZooKeeperLauncher.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new AssertionError("no ZooKeeper server for this test; one of these would do: " + REMEDY, e);
            }
        }
    }

    @Override
    public Launched launch(Path directory, List<String> lines) {
        try {
            Path configuration = directory.resolve("zoo.cfg");
            List<String> settings = new ArrayList<>(List.of("dataDir=" + directory));
            List<String> properties = new ArrayList<>();
            for (String line : lines) {
                if (line.startsWith(ID)) {
                    Files.writeString(directory.resolve("myid"), line.substring(ID.length()), StandardCharsets.UTF_8);
                } else if (line.startsWith(CONTAINERS)) {
                    properties.add("-D" + line);
                } else {
                    settings.add(line);
                }
            }
            Files.write(configuration, settings, StandardCharsets.UTF_8);
            Path java = Path.of(System.getProperty("java.home"), "bin", "java");
            return new BinaryLauncher(java).launch(directory, command(properties, configuration));
        } catch (IOException e) {
            throw new UncheckedIOException("could not write the configuration of a ZooKeeper server", e);
        }
    }

    private static List<String> command(List<String> properties, Path configuration) {
        List<String> command = new ArrayList<>(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx256m",
                "-Dzookeeper.admin.enableServer=false",
                "-Dzookeeper.forceSync=no",
                "-Dznode.container.checkIntervalMs=500",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
        command.addAll(properties);
        command.addAll(List.of("-cp", classPath(), MAIN, configuration.toString()));
        return command;
    }

    /** It runs in a directory of its own. */
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    @Override
    public String toString() {
        return MAIN;
    }
}

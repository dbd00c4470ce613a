package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.servers.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * B24: any two store modules work in one application that depends on these two, and on the drivers that they leave to the
 * application. The class path of each pair is what Maven makes of a pom outside of this build; the program runs in a JVM
 * with that alone.
 */
class PairsOfStoresIT {

    private static final List<String> STORES = List.of(
            "lock-store-dynamodb",
            "lock-store-etcd",
            "lock-store-flock",
            "lock-store-jdbc",
            "lock-store-memcached",
            "lock-store-mongodb",
            "lock-store-mysql",
            "lock-store-postgres-advisory",
            "lock-store-redis",
            "lock-store-zookeeper");

    private static final String PROJECT = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
                <modelVersion>4.0.0</modelVersion>
                <groupId>org.example</groupId>
                <artifactId>ARTIFACT</artifactId>
                <version>1</version>
                <packaging>PACKAGING</packaging>
                CONTENT
            </project>
            """;

    private static final String DEPENDENCY =
            "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>";

    private record Pair(String one, String other) {
        @Override
        public String toString() {
            return one + "-and-" + other;
        }
    }

    @TempDir
    private static Path directory = Path.of("");

    private static Installed installed;
    private static Path program;

    static List<Pair> pairs() {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < STORES.size(); i++) {
            for (int j = i + 1; j < STORES.size(); j++) {
                pairs.add(new Pair(STORES.get(i), STORES.get(j)));
            }
        }
        return pairs;
    }

    /** All class paths by one run of Maven. */
    @BeforeAll
    static void resolve() throws Exception {
        installed = Installed.in(directory);
        for (Pair pair : pairs()) {
            String dependencies = Stream.of(pair.one(), pair.other())
                    .map(PairsOfStoresIT::dependencies)
                    .collect(Collectors.joining("", "<dependencies>", "</dependencies>"));
            write(Files.createDirectories(directory.resolve(pair.toString())), pair.toString(), "jar", dependencies);
        }
        String modules = pairs().stream()
                .map(pair -> "<module>" + pair + "</module>")
                .collect(Collectors.joining("", "<modules>", "</modules>"));
        write(directory, "pairs", "pom", modules);
        installed.maven(
                directory,
                Installed.plugin("maven-dependency-plugin") + ":build-classpath",
                "-Dmdep.outputFile=classpath.txt");
        program = Installed.alone(TwoStores.class, directory);
    }

    private static String dependencies(String store) {
        String module = DEPENDENCY.formatted("dev.latchkey", store, installed.version());
        return switch (store) {
            // Which database is up to the application.
            case "lock-store-jdbc" -> module + DEPENDENCY.formatted("com.h2database", "h2", version("h2.version"));
            case "lock-store-mysql" ->
                module + DEPENDENCY.formatted("org.mariadb.jdbc", "mariadb-java-client", version("mariadb.version"));
            default -> module;
        };
    }

    private static void write(Path project, String artifact, String packaging, String content) throws IOException {
        Files.writeString(
                project.resolve("pom.xml"),
                PROJECT.replace("ARTIFACT", artifact)
                        .replace("PACKAGING", packaging)
                        .replace("CONTENT", content));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void givenAnApplicationOfTwoStores_whenItLocksWithBoth_thenBothWork(Pair pair) throws Exception {
        String classPath = Files.readString(directory.resolve(pair.toString()).resolve("classpath.txt"));

        String printed = installed.run(
                directory,
                List.of(
                        Installed.jdk("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        program + ":" + classPath,
                        TwoStores.class.getName(),
                        dsn(pair.one(), pair),
                        dsn(pair.other(), pair)));

        assertThat(printed.lines().filter("locked true"::equals)).as(printed).hasSize(2);
    }

    @Test
    void everyStoreModuleIsAmongThem() throws Exception {
        try (Stream<Path> modules = Files.list(Documents.ROOT)) {
            assertThat(modules.map(module -> module.getFileName().toString())
                            .filter(name -> name.startsWith("lock-store-")))
                    .containsExactlyInAnyOrderElementsOf(STORES);
        }
    }

    private static String dsn(String store, Pair pair) {
        return switch (store) {
            case "lock-store-dynamodb" -> DynamoDbServer.sharedDsn();
            case "lock-store-etcd" -> EtcdServer.sharedDsn();
            case "lock-store-flock" -> "flock://" + directory.resolve("locks");
            case "lock-store-jdbc" ->
                "jdbc:h2:" + directory.resolve(pair.toString()).resolve("database");
            case "lock-store-memcached" -> MemcachedServer.sharedDsn();
            case "lock-store-mongodb" -> MongoDbServer.sharedDsn("locks");
            case "lock-store-mysql" -> MariaDbServer.sharedDsn().replace("mariadb://", "mariadb+getlock://");
            case "lock-store-postgres-advisory" ->
                PostgresServer.sharedDsn().replace("postgresql://", "postgresql+advisory://");
            case "lock-store-redis" -> RedisServer.sharedDsn();
            case "lock-store-zookeeper" -> ZooKeeperServer.sharedDsn();
            default -> throw new AssertionError("no server for " + store);
        };
    }

    private static String version(String property) {
        try {
            String pom = Files.readString(Documents.ROOT.resolve("pom.xml"));
            String tag = "<" + property + ">";
            return pom.substring(pom.indexOf(tag) + tag.length(), pom.indexOf("</" + property + ">"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.servers.ZooKeeperServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
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
 * application. Each works alone and beside all others, and what two bring is what each brings alone, in the same versions: so
 * two have nothing that those have not that were run. The class paths are what Maven makes of poms outside of this build; the
 * program runs in a JVM with that alone.
 */
class StoresTogetherIT {

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

    @TempDir
    private static Path directory = Path.of("");

    private static Installed installed;
    private static Path program;

    static List<String> stores() {
        return STORES;
    }

    static List<List<String>> pairs() {
        List<List<String>> pairs = new ArrayList<>();
        for (int i = 0; i < STORES.size(); i++) {
            for (int j = i + 1; j < STORES.size(); j++) {
                pairs.add(List.of(STORES.get(i), STORES.get(j)));
            }
        }
        return pairs;
    }

    /** All class paths by one run of Maven. */
    @BeforeAll
    static void resolve() throws Exception {
        installed = Installed.in(directory);
        List<List<String>> applications = new ArrayList<>(pairs());
        STORES.forEach(store -> applications.add(List.of(store)));
        applications.add(STORES);
        for (List<String> stores : applications) {
            String dependencies = stores.stream()
                    .map(StoresTogetherIT::dependencies)
                    .collect(Collectors.joining("", "<dependencies>", "</dependencies>"));
            write(Files.createDirectories(directory.resolve(name(stores))), name(stores), "jar", dependencies);
        }
        String modules = applications.stream()
                .map(stores -> "<module>" + name(stores) + "</module>")
                .collect(Collectors.joining("", "<modules>", "</modules>"));
        write(directory, "applications", "pom", modules);
        installed.maven(
                directory,
                Installed.plugin("maven-dependency-plugin") + ":build-classpath",
                "-Dmdep.outputFile=classpath.txt");
        program = Installed.alone(SeveralStores.class, directory);
    }

    private static String name(List<String> stores) {
        return stores.equals(STORES) ? "all" : String.join("-and-", stores);
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
    @MethodSource("stores")
    void givenAnApplicationOfOneStore_whenItLocks_thenItWorks(String store) throws Exception {
        assertLocks(List.of(store));
    }

    @Test
    void givenAnApplicationOfAllStores_whenItLocksWithEach_thenAllWork() throws Exception {
        assertLocks(STORES);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void givenAnApplicationOfTwoStores_thenItHasWhatEachHasAloneInTheSameVersions(List<String> pair) throws Exception {
        List<String> alone = new ArrayList<>();
        for (String store : pair) {
            alone.addAll(classPath(List.of(store)));
        }

        assertThat(classPath(pair)).containsExactlyInAnyOrderElementsOf(new HashSet<>(alone));
    }

    private static void assertLocks(List<String> stores) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Installed.jdk("java"),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                program + ":" + String.join(":", classPath(stores)),
                SeveralStores.class.getName()));
        stores.forEach(store -> command.add(dsn(store, directory.resolve(name(stores)))));

        String printed = installed.run(directory, command);

        assertThat(printed.lines().filter("locked true"::equals)).as(printed).hasSameSizeAs(stores);
    }

    private static List<String> classPath(List<String> stores) throws IOException {
        Path file = directory.resolve(name(stores)).resolve("classpath.txt");
        return List.of(Files.readString(file).split(File.pathSeparator));
    }

    @Test
    void everyStoreModuleIsAmongThem() throws Exception {
        try (Stream<Path> modules = Files.list(Documents.ROOT)) {
            assertThat(modules.map(module -> module.getFileName().toString())
                            .filter(name -> name.startsWith("lock-store-")))
                    .containsExactlyInAnyOrderElementsOf(STORES);
        }
    }

    private static String dsn(String store, Path home) {
        return switch (store) {
            case "lock-store-dynamodb" -> DynamoDbServer.sharedDsn();
            case "lock-store-etcd" -> PatientDsn.etcd(EtcdServer.sharedDsn());
            case "lock-store-flock" -> "flock://" + directory.resolve("locks");
            case "lock-store-jdbc" -> "jdbc:h2:" + home.resolve("database");
            case "lock-store-memcached" -> PatientDsn.memcached(MemcachedServer.sharedDsn());
            case "lock-store-mongodb" -> MongoDbServer.sharedDsn("locks");
            case "lock-store-mysql" -> MariaDbServer.sharedDsn().replace("mariadb://", "mariadb+getlock://");
            case "lock-store-postgres-advisory" ->
                PostgresServer.sharedDsn().replace("postgresql://", "postgresql+advisory://");
            case "lock-store-redis" -> PatientDsn.redis(RedisServer.sharedDsn());
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

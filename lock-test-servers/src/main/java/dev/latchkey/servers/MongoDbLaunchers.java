package dev.latchkey.servers;

import java.util.List;
import java.util.Optional;

/** Finds out, once per JVM, how MongoDB servers are started here. */
final class MongoDbLaunchers {

    private static final String IMAGE = "mongo:7.0";
    private static final String REMEDY =
            "a mongod on the PATH; a running Docker engine, with org.testcontainers:testcontainers among the test"
                    + " dependencies; the test dependency de.bwaldvogel:mongo-java-server. Where a test needs no server of"
                    + " its own, also " + MongoDbServer.ENVIRONMENT + "=mongodb://host:port";
    private static final Launcher EMBEDDED = EmbeddedMongoDb.launcher();

    private MongoDbLaunchers() {}

    static Launcher chosen() {
        return Chosen.LAUNCHER;
    }

    /** Whether it is not MongoDB itself. */
    static boolean isEmbedded() {
        return chosen().equals(EMBEDDED);
    }

    private static Launcher search() {
        Launcher found = new ServerSearch("MongoDB server", REMEDY)
                .or("Docker", MongoDbLaunchers::docker)
                .or(
                        "mongod on this machine",
                        () -> BinaryLauncher.find("mongod").map(binary -> binary))
                .or("the artifact mongo-java-server", MongoDbLaunchers::artifact)
                .first(launcher -> LocalServer.start(MongoDbServer.plan("mongodb-trial", launcher, List.of()))
                        .close());
        System.out.println("MongoDB for the tests: " + found);
        return found;
    }

    private static Optional<Launcher> docker() {
        return Docker.isAvailable() ? Optional.of(new DockerLauncher(IMAGE, "mongod")) : Optional.empty();
    }

    private static Optional<Launcher> artifact() {
        return isPresent("de.bwaldvogel.mongo.MongoServer") ? Optional.of(EMBEDDED) : Optional.empty();
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, MongoDbLaunchers.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static final class Chosen {
        static final Launcher LAUNCHER = search();
    }
}

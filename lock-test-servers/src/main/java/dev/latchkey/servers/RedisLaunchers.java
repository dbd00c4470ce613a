package dev.latchkey.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import redis.embedded.core.ExecutableProvider;

/** Finds out, once per JVM, how Redis servers are started here. */
final class RedisLaunchers {

    private static final String IMAGE = "redis:7.2-alpine";
    private static final String REMEDY =
            "\"apt-get install redis-server\"; a running Docker engine, with org.testcontainers:testcontainers among the test"
                    + " dependencies; the test dependency com.github.codemonstur:embedded-redis. Where a test needs no server"
                    + " of its own, also " + RedisServer.ENVIRONMENT + "=redis://host:port";

    private RedisLaunchers() {}

    static Launcher chosen() {
        return Chosen.LAUNCHER;
    }

    /** The oldest version there is, whatever else this machine has. */
    static Launcher oldest() {
        return new ServerSearch(
                        "Redis server of version 6.2", "the test dependency com.github.codemonstur:embedded-redis")
                .or("the artifact embedded-redis", RedisLaunchers::artifact)
                .first(RedisLaunchers::tryOut);
    }

    private static Launcher search() {
        return new ServerSearch("Redis server", REMEDY)
                .or("Docker", RedisLaunchers::docker)
                .or(
                        "redis-server on this machine",
                        () -> BinaryLauncher.find("redis-server").map(found -> found))
                .or("the artifact embedded-redis", RedisLaunchers::artifact)
                .first(RedisLaunchers::tryOut);
    }

    private static void tryOut(Launcher launcher) {
        LocalServer.start(RedisServer.plan("redis-trial", launcher, List.of())).close();
    }

    private static Optional<Launcher> docker() {
        return Docker.isAvailable() ? Optional.of(new DockerLauncher(IMAGE, "redis-server")) : Optional.empty();
    }

    private static Optional<Launcher> artifact() {
        return isPresent("redis.embedded.core.ExecutableProvider") ? Optional.of(Artifact.unpack()) : Optional.empty();
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, RedisLaunchers.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static final class Chosen {
        static final Launcher LAUNCHER = search();
    }

    /** Apart, since it cannot be loaded without the artifact. */
    private static final class Artifact {

        static Launcher unpack() {
            try {
                Path unpacked =
                        ExecutableProvider.newJarResourceProvider().get().toPath();
                return new BinaryLauncher(unpacked);
            } catch (IOException e) {
                throw new UncheckedIOException("could not unpack embedded-redis", e);
            }
        }
    }
}

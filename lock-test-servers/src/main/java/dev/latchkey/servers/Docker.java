package dev.latchkey.servers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The Docker engine of this machine, if there is one and Testcontainers is on the class path. */
public final class Docker {

    private static final List<String> SETTINGS =
            List.of("DOCKER_HOST", "DOCKER_CONTEXT", "TESTCONTAINERS_DOCKER_CLIENT_STRATEGY");

    private Docker() {}

    /**
     * Tells whether servers can run in containers. Testcontainers takes seconds to find out: it is not asked where no engine can be.
     *
     * @return whether an engine answers
     */
    public static boolean isAvailable() {
        boolean isSet = SETTINGS.stream().anyMatch(name -> System.getenv(name) != null);
        return (isSet || traces().anyMatch(Files::exists)) && isKnown() && DockerLauncher.isAvailable();
    }

    /** Where Testcontainers looks for an engine, or for what it is told of one. */
    private static Stream<Path> traces() {
        Path home = Path.of(System.getProperty("user.home"));
        Stream<Path> ofUser = Stream.of(
                        ".testcontainers.properties",
                        ".docker/run/docker.sock",
                        ".docker/desktop/docker.sock",
                        ".colima/default/docker.sock",
                        ".rd/docker.sock")
                .map(home::resolve);
        Stream<Path> ofMachine =
                Stream.of("/var/run/docker.sock", "/run/docker.sock").map(Path::of);
        Stream<Path> rootless = Optional.ofNullable(System.getenv("XDG_RUNTIME_DIR")).stream()
                .map(directory -> Path.of(directory, "docker.sock"));
        return Stream.of(ofUser, ofMachine, rootless).flatMap(paths -> paths);
    }

    private static boolean isKnown() {
        try {
            Class.forName("org.testcontainers.DockerClientFactory", false, Docker.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}

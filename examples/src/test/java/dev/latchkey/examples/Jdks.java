package dev.latchkey.examples;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The JDKs of this machine: the one that runs the tests, and those where packages of Linux put them. */
final class Jdks {

    static final Path FOLDER = Path.of("/usr/lib/jvm");

    private Jdks() {}

    /** The newest one's {@code java} of at least a version; empty if there is none. */
    static Optional<Path> newestFrom(int version) throws IOException {
        Map<Integer, Path> found = new TreeMap<>(Comparator.reverseOrder());
        try (Stream<Path> folders = Files.isDirectory(FOLDER) ? Files.list(FOLDER) : Stream.empty()) {
            for (Path home : Stream.concat(folders, Stream.of(Path.of(System.getProperty("java.home"))))
                    .toList()) {
                Path java = home.resolve("bin/java");
                if (Files.isExecutable(java) && Files.isReadable(home.resolve("release"))) {
                    found.putIfAbsent(version(home), java);
                }
            }
        }
        return found.entrySet().stream()
                .filter(jdk -> jdk.getKey() >= version)
                .map(Map.Entry::getValue)
                .findFirst();
    }

    private static int version(Path home) throws IOException {
        Properties release = new Properties();
        try (Reader reader = Files.newBufferedReader(home.resolve("release"))) {
            release.load(reader);
        }
        return Runtime.Version.parse(release.getProperty("JAVA_VERSION", "1")
                        .replace("\"", "")
                        .replace("_", "-"))
                .feature();
    }
}

package dev.latchkey.release;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * An artifact of ours on the class path, as it is built.
 *
 * @param artifactId as in its pom
 * @param version as in its pom
 * @param jar where it is
 */
record Published(String artifactId, String version, Path jar) {

    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final String DESCRIPTORS = "META-INF/maven/dev.latchkey/";

    static List<Published> all() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith(".jar"))
                .map(entry -> of(Path.of(entry)))
                .flatMap(Optional::stream)
                .filter(published -> !published.artifactId().equals("release-checks"))
                .toList();
    }

    private static Optional<Published> of(Path path) {
        try (JarFile jar = new JarFile(path.toFile())) {
            Optional<String> descriptor = jar.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.startsWith(DESCRIPTORS) && name.endsWith("/pom.properties"))
                    .findAny();
            if (descriptor.isEmpty()) {
                return Optional.empty();
            }
            Properties properties = new Properties();
            try (InputStream in = jar.getInputStream(jar.getEntry(descriptor.get()))) {
                properties.load(in);
            }
            return Optional.of(
                    new Published(properties.getProperty("artifactId"), properties.getProperty("version"), path));
        } catch (IOException e) {
            throw new UncheckedIOException(path.toString(), e);
        }
    }

    /** For names of tests. */
    @Override
    public String toString() {
        return artifactId;
    }
}

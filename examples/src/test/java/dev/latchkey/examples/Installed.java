package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Our artifacts as they are installed, for projects outside of this build.
 *
 * <p>Installed means: laid out in a repository of the test's own, as the install plugin does, from the jars this test has on
 * its class path. All else is found in the repository of the build, which is only read.
 */
final class Installed {

    private static final Pattern OUR_JAR = Pattern.compile("((?:lock|latchkey)-[a-z-]+?)-(\\d[^/]*)\\.jar");

    private final Path directory;
    private final Path repository;
    private final String version;

    private Installed(Path directory, String version) {
        this.directory = directory;
        this.repository = directory.resolve("repository");
        this.version = version;
    }

    /** Installs into a directory of the test's own. */
    static Installed in(Path directory) throws IOException {
        List<Path> jars = new ArrayList<>();
        String version = "";
        for (String entry : System.getProperty("java.class.path").split(":", -1)) {
            Matcher jar = OUR_JAR.matcher(Path.of(entry).getFileName().toString());
            if (jar.matches() && Files.exists(Documents.ROOT.resolve(jar.group(1)))) {
                version = jar.group(2);
                jars.add(Path.of(entry));
            }
        }
        Installed installed = new Installed(directory, version);
        for (Path jar : jars) {
            String name = jar.getFileName().toString();
            String artifact = name.substring(0, name.length() - ("-" + version + ".jar").length());
            installed.install(artifact, Documents.ROOT.resolve(artifact).resolve("pom.xml"), Stream.of(jar));
        }
        installed.install("latchkey-parent", Documents.ROOT.resolve("pom.xml"), Stream.of());
        return installed;
    }

    /** Of all our artifacts. */
    String version() {
        return version;
    }

    private void install(String artifact, Path pom, Stream<Path> jar) throws IOException {
        Path home = Files.createDirectories(
                repository.resolve("dev/latchkey").resolve(artifact).resolve(version));
        Files.copy(pom, home.resolve(artifact + "-" + version + ".pom"));
        for (Path file : jar.toList()) {
            Files.copy(file, home.resolve(artifact + "-" + version + ".jar"));
        }
    }

    /** Runs Maven in a project that sees them. */
    void maven(Path project, String... goals) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Documents.ROOT.resolve("mvnw").toString(),
                "-q",
                "-B",
                "-Dmaven.repo.local=" + repository,
                "-Dmaven.repo.local.tail=" + System.getProperty("latchkey.repository"),
                "-Dmaven.repo.local.tail.ignoreAvailability=true"));
        command.addAll(List.of(goals));
        String unused = run(project, command);
    }

    /** Runs a program, which must end well, and returns what it printed. */
    String run(Path workingDirectory, List<String> command) throws IOException, InterruptedException {
        Path output = directory.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        int exit = builder.start().waitFor();
        String printed = Files.readString(output);
        assertThat(exit).as("%s printed: %s", command, printed).isZero();
        return printed;
    }

    /** A plugin in the version that our own build uses, which is therefore there. */
    static String plugin(String artifact) throws IOException {
        Matcher version = Pattern.compile("<artifactId>" + artifact + "</artifactId>\\s*<version>([^<]+)<")
                .matcher(Files.readString(Documents.ROOT.resolve("pom.xml")));
        assertThat(version.find()).as(artifact).isTrue();
        return "org.apache.maven.plugins:" + artifact + ":" + version.group(1);
    }

    /** A directory with a class of this test, and nothing else that a class path would see. */
    static Path alone(Class<?> program, Path directory) throws IOException {
        Path file = Path.of(program.getName().replace('.', '/') + ".class");
        Path home = directory.resolve("program");
        Path copy = home.resolve(file);
        Files.createDirectories(copy.getParent());
        Files.copy(Path.of("target/test-classes").resolve(file), copy);
        return home;
    }

    static String jdk(String tool) {
        return Path.of(System.getProperty("java.home"), "bin", tool).toString();
    }
}

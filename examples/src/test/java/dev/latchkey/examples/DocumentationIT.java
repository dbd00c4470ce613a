package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/**
 * Does with every block of the documents what a reader would do:
 *
 * <ul>
 *   <li>{@code java} is compiled and run, with what it leaves out; with {@code file=…} behind it, it is a part of that file.
 *   <li>{@code kotlin} is a part of a file that {@code latchkey-kotlin} compiles and runs.
 *   <li>{@code sh} is run, with the repository as working directory and the {@code lock} command on the path.
 *   <li>{@code sql} is run on PostgreSQL, in a transaction that is rolled back.
 *   <li>{@code xml} is parsed; artifacts of ours have to exist. {@link NewUserIT} builds a project with it.
 *   <li>{@code crontab}, {@code ini} and {@code yaml}: what they have the {@code lock} command do, it does.
 *   <li>{@code text} is only to be read.
 * </ul>
 */
class DocumentationIT {

    private static final Set<String> LANGUAGES =
            Set.of("java", "kotlin", "sh", "sql", "xml", "crontab", "ini", "yaml", "text");

    private static final long LIMIT_SECONDS = TimeLimits.LIMIT.toSeconds();

    @TempDir
    private Path directory = Path.of("");

    static List<Snippet> java() throws IOException {
        return Documents.snippets("java").stream()
                .filter(snippet -> snippet.source().isEmpty())
                .toList();
    }

    static List<Snippet> excerpts() throws IOException {
        return Documents.snippets().stream()
                .filter(snippet -> snippet.source().isPresent())
                .toList();
    }

    static List<Snippet> sh() throws IOException {
        return Documents.snippets("sh");
    }

    static List<Snippet> sql() throws IOException {
        return Documents.snippets("sql");
    }

    static List<Snippet> xml() throws IOException {
        return Documents.snippets("xml");
    }

    static Stream<Snippet> lockLines() throws IOException {
        return LockLines.in(Documents.snippets());
    }

    /** What a new user waits for. It takes what this build has downloaded. */
    @BeforeAll
    static void givenACheckout_whenLockIsStarted_thenItBuildsItselfIfNeedBe() throws Exception {
        LockScript.buildIfNeedBe();
    }

    @Test
    void givenTheDocuments_thenEveryBlockIsInALanguageThatIsTested() throws IOException {
        assertThat(Documents.snippets())
                .allMatch(snippet -> LANGUAGES.contains(snippet.language()))
                .allMatch(snippet -> !snippet.language().equals("kotlin")
                        || snippet.source().orElse("").startsWith("latchkey-kotlin/src/"));
    }

    @ParameterizedTest
    @MethodSource("java")
    void givenJavaBlock_whenCompiledAndRun_thenItWorks(Snippet snippet) throws Exception {
        String name = JavaSnippet.write(snippet, directory);

        compile(directory.resolve(name + ".java"));

        if (JavaSnippet.hasMain(snippet)) {
            runIn(
                    directory,
                    jdk("java"),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    directory + ":" + classPath(),
                    name);
        }
    }

    @ParameterizedTest
    @MethodSource("excerpts")
    void givenPartOfAFile_thenItStandsThereWordForWord(Snippet snippet) throws IOException {
        List<String> file =
                words(Files.readString(Documents.ROOT.resolve(snippet.source().orElseThrow())));
        List<String> shown = words(snippet.text());

        assertThat(IntStream.rangeClosed(0, file.size() - shown.size()))
                .as("%s is a part of %s", shown, snippet.source())
                .anyMatch(at -> file.subList(at, at + shown.size()).equals(shown));
    }

    @ParameterizedTest
    @MethodSource("sh")
    void givenShellBlock_whenRun_thenItWorks(Snippet snippet) throws Exception {
        runIn(Documents.ROOT, "sh", "-eu", "-c", snippet.text());
    }

    @ParameterizedTest
    @MethodSource("sql")
    void givenSqlBlock_whenRun_thenItWorks(Snippet snippet) throws Exception {
        try (Connection connection = DriverManager.getConnection(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(snippet.text());
            connection.rollback();
        }
    }

    @ParameterizedTest
    @MethodSource("xml")
    void givenXmlBlock_whenParsed_thenOurArtifactsInItExist(Snippet snippet) throws Exception {
        NodeList artifacts = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader("<block>" + snippet.text() + "</block>")))
                .getElementsByTagName("artifactId");

        assertThat(artifacts.getLength()).isPositive();
        assertThat(IntStream.range(0, artifacts.getLength())
                        .mapToObj(index -> artifacts.item(index).getTextContent())
                        .filter(name -> name.startsWith("lock-")))
                .allSatisfy(name -> assertThat(Documents.ROOT.resolve(name).resolve("pom.xml"))
                        .exists());
    }

    @ParameterizedTest
    @MethodSource("lockLines")
    void givenLockInACrontabOrUnitOrManifest_whenRun_thenTheCommandKnowsIt(Snippet snippet) throws Exception {
        List<String> lines = LockLines.of(snippet);

        assertThat(lines).isNotEmpty();
        for (String line : lines) {
            runIn(Documents.ROOT, "sh", "-eu", "-c", line);
        }
    }

    @Test
    void givenTheDocuments_thenEveryLinkBetweenThemLeadsSomewhere() throws IOException {
        for (Path document : Documents.all()) {
            assertThat(Links.broken(document)).isEmpty();
        }
    }

    private void compile(Path source) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(null, said, said, "-proc:none", "-cp", classPath(), "-d", directory.toString(), source.toString());

        assertThat(exit).as("said: %s", said.toString(StandardCharsets.UTF_8)).isZero();
    }

    private static List<String> words(String text) {
        return List.of(text.strip().split("\\s+"));
    }

    private void runIn(Path workingDirectory, String... command) throws IOException, InterruptedException {
        Path output = directory.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Path state = Files.createDirectories(directory.resolve("state"));
        builder.environment().put("XDG_STATE_HOME", state.toString());
        builder.environment().merge("PATH", Documents.ROOT.toString(), (path, root) -> root + ":" + path);
        Process process = builder.start();
        boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();

        assertThat(ended)
                .as("ended in time; printed: %s", Files.readString(output))
                .isTrue();
        assertThat(process.exitValue())
                .as("printed: %s", Files.readString(output))
                .isZero();
    }

    private static String jdk(String tool) {
        return Path.of(System.getProperty("java.home"), "bin", tool).toString();
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }
}

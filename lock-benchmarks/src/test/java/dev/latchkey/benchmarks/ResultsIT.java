package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.SAXException;
import picocli.CommandLine;

/** What the command writes, of stores that need no server. */
class ResultsIT {

    @TempDir
    private Path directory;

    @Test
    void givenQuickRuns_whenRead_thenThePagesSayWhatTheRawFiguresSay() throws Exception {
        assertThat(run("in-memory")).isZero();
        Path page = directory.resolve("in-memory.md");
        Files.setLastModifiedTime(page, FileTime.fromMillis(0));

        assertThat(run("flock")).isZero();

        for (String store : List.of("in-memory", "flock")) {
            assertIsSvgWithoutEmptyBars(directory.resolve(store + ".svg"));
            assertThat(ratiosOfPage(Files.readString(directory.resolve(store + ".md"))))
                    .isEqualTo(ratiosOfTurns(
                            new ObjectMapper().readTree(Files.readString(directory.resolve(store + ".json")))));
        }
        assertThat(Files.getLastModifiedTime(page))
                .as("another store's page is left alone")
                .isEqualTo(FileTime.fromMillis(0));
        assertThat(Files.readString(directory.resolve("README.md")))
                .contains("[in-memory](in-memory.md)")
                .contains("[flock](flock.md)");
    }

    @Test
    void givenWrongArguments_whenRun_thenSaysWhatThereIs() {
        assertThat(new CommandLine(new Main()).setErr(silent()).execute("no-such-store"))
                .isEqualTo(2);
        assertThat(new CommandLine(new Main()).setErr(silent()).execute("--only", "nothing", "flock"))
                .isEqualTo(2);
    }

    /** A page that names a revision which nobody can check out proves nothing. */
    @Test
    void givenChangesThatAreNotCommitted_whenPagesWouldBeWritten_thenNothingIsMeasured() throws Exception {
        System.setProperty(Setting.REVISION, "0123456-dirty");
        try {
            StringWriter told = new StringWriter();

            int code = new CommandLine(new Main())
                    .setErr(new PrintWriter(told))
                    .execute("--output", directory.toString(), "in-memory");

            assertThat(code).isEqualTo(2);
            assertThat(told.toString()).contains("not committed");
            assertThat(directory).isEmptyDirectory();
        } finally {
            System.clearProperty(Setting.REVISION);
        }
    }

    private static PrintWriter silent() {
        return new PrintWriter(Writer.nullWriter());
    }

    private int run(String store) {
        return new CommandLine(new Main()).execute("--quick", "--output", directory.toString(), store);
    }

    private static void assertIsSvgWithoutEmptyBars(Path file)
            throws IOException, ParserConfigurationException, SAXException {
        var document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        var bars = document.getElementsByTagName("rect");
        assertThat(bars.getLength()).isGreaterThan(5);
        for (int i = 0; i < bars.getLength(); i++) {
            String width = bars.item(i).getAttributes().getNamedItem("width").getNodeValue();
            assertThat(Double.parseDouble(width)).isPositive();
        }
    }

    /** The fourth column of all tables of measurements. */
    private static List<String> ratiosOfPage(String page) {
        return page.lines()
                .map(line -> line.split("\\|", -1))
                .filter(cells -> cells.length > 7 && cells[4].endsWith("× "))
                .map(cells -> cells[4].strip())
                .toList();
    }

    /** The same, anew from nothing but the turns. */
    private static List<String> ratiosOfTurns(JsonNode figures) {
        List<String> ratios = new ArrayList<>();
        for (JsonNode table : figures.get("tables")) {
            for (JsonNode row : table.get("rows")) {
                double ours = median(firstOfOurs(table, row.get("mode").asText()));
                ratios.add(Page.ratio(ours / median(row)));
            }
        }
        return ratios;
    }

    private static JsonNode firstOfOurs(JsonNode table, String mode) {
        return StreamSupport.stream(table.get("rows").spliterator(), false)
                .filter(row -> row.get("role").asText().equals("LATCHKEY"))
                .filter(row -> row.get("mode").asText().equals(mode))
                .findFirst()
                .orElseThrow();
    }

    private static double median(JsonNode row) {
        double[] sorted = StreamSupport.stream(row.get("turns").spliterator(), false)
                .mapToDouble(turn -> turn.get("cyclesPerSecond").asDouble())
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }
}

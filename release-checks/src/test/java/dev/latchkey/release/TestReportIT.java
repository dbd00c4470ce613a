package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./verify} says at its end, of reports written here. */
class TestReportIT {

    private static final Path REPORT =
            Path.of("src/test/java/dev/latchkey/release/TestReport.java").toAbsolutePath();

    @TempDir
    Path root = Path.of("");

    private record Run(int exitCode, String out) {}

    @Test
    void givenTestsThatCouldNotRun_whenReported_thenEachIsNamedWithItsReason() throws Exception {
        writeReport("store-a", "AIT", 40, "no A: start Docker", "no A: start Docker");
        writeReport("store-b", "BIT", 1, "no B on this machine");

        Run run = report();

        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("3 tests in 2 classes")
                .containsSubsequence("     40  store-a\n", "     40      AIT (2)\n", "      1  store-b\n")
                .endsWith(
                        "Not run here:\n    store-a AIT: no A: start Docker (2)\n    store-b BIT: no B on this machine\n");
    }

    @Test
    void givenTestsThatCouldNotRun_whenStrict_thenExitCode1() throws Exception {
        writeReport("store-a", "AIT", 1, "no A: start Docker");

        Run run = report("--strict");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("Not run here:");
    }

    @Test
    void givenAllRan_whenStrict_thenExitCode0AndNoList() throws Exception {
        writeReport("store-a", "AIT", 1);

        Run run = report("--strict");

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).doesNotContain("Not run here");
    }

    @Test
    void givenAnAssumptionThatFailed_whenReported_thenWhatItSaysIsTheReason() throws Exception {
        Files.writeString(
                Files.createDirectories(root.resolve("store-a/target/failsafe-reports"))
                        .resolve("TEST-dev.latchkey.AIT.xml"),
                """
                <testsuite name="dev.latchkey.AIT" time="1" tests="2">
                <testcase name="x"><skipped type="org.opentest4j.TestAbortedException"><![CDATA[\
                org.opentest4j.TestAbortedException: Assumption failed: no A: start Docker
                	at org.junit.jupiter.api.Assumptions.assumeTrue]]></skipped></testcase>
                <testcase name="y"><skipped/></testcase>
                </testsuite>
                """);

        assertThat(report().out())
                .endsWith("Not run here:\n    store-a AIT: no A: start Docker\n    store-a AIT: no reason given\n");
    }

    private void writeReport(String module, String name, int seconds, String... reasons) throws IOException {
        StringBuilder cases = new StringBuilder();
        for (String reason : reasons) {
            cases.append("<testcase name=\"x\"><skipped message=\"%s\"/></testcase>".formatted(reason));
        }
        Path reports = Files.createDirectories(root.resolve(module).resolve("target/failsafe-reports"));
        Files.writeString(
                reports.resolve("TEST-dev.latchkey." + name + ".xml"),
                "<testsuite name=\"dev.latchkey.%s\" time=\"%d\" tests=\"%d\">%s</testsuite>"
                        .formatted(name, seconds, reasons.length, cases));
    }

    private Run report(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), REPORT.toString(), "0"));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command)
                .directory(root.toFile())
                .redirectErrorStream(true)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), out);
    }
}

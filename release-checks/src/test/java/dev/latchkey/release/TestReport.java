package dev.latchkey.release;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * What {@code ./verify} says at its end: where the time went, and which tests did not run here and why. Started from its source,
 * so that it can also report on a build that failed.
 */
final class TestReport {

    /** Those that are worth a look. */
    private static final double LONG_SECONDS = 20;

    /**
     * One test class, as Surefire or Failsafe wrote it down.
     *
     * @param skipped why, of those that did not run
     */
    private record Suite(String module, String name, double seconds, int tests, List<String> skipped) {}

    private TestReport() {}

    /**
     * Prints the report, and ends with 1 if a test did not run and {@code --strict} is given.
     *
     * @param arguments when the build began, in seconds since 1970, and perhaps {@code --strict}
     * @throws Exception if a report cannot be read
     */
    public static void main(String... arguments) throws Exception {
        Instant since = Instant.ofEpochSecond(Long.parseLong(arguments[0]));
        List<Suite> suites = read(Path.of(""), since);
        printTimes(suites);
        boolean allRan = printNotRun(suites);
        if (!allRan && List.of(arguments).contains("--strict")) {
            System.exit(1);
        }
    }

    private static void printTimes(List<Suite> suites) {
        System.out.printf(
                Locale.ROOT,
                "%n%d tests in %d classes. Seconds by module, and by class from %.0f s:%n",
                suites.stream().mapToInt(Suite::tests).sum(),
                suites.size(),
                LONG_SECONDS);
        Map<String, List<Suite>> byModule = suites.stream().collect(Collectors.groupingBy(Suite::module));
        byModule.entrySet().stream()
                .sorted(Comparator.comparingDouble(module -> -seconds(module.getValue())))
                .forEach(module -> {
                    print(seconds(module.getValue()), module.getKey());
                    module.getValue().stream()
                            .filter(suite -> suite.seconds() >= LONG_SECONDS)
                            .sorted(Comparator.comparingDouble(suite -> -suite.seconds()))
                            .forEach(suite ->
                                    print(suite.seconds(), "    " + suite.name() + " (" + suite.tests() + ")"));
                });
    }

    private static double seconds(List<Suite> suites) {
        return suites.stream().mapToDouble(Suite::seconds).sum();
    }

    private static void print(double seconds, String what) {
        System.out.printf(Locale.ROOT, "%7.0f  %s%n", seconds, what);
    }

    private static boolean printNotRun(List<Suite> suites) {
        Map<String, Integer> notRun = new TreeMap<>();
        suites.forEach(suite -> suite.skipped()
                .forEach(reason -> notRun.merge(suite.module() + " " + suite.name() + ": " + reason, 1, Integer::sum)));
        if (!notRun.isEmpty()) {
            System.out.println("\nNot run here:");
            notRun.forEach((what, times) -> System.out.println("    " + what + (times > 1 ? " (" + times + ")" : "")));
        }
        return notRun.isEmpty();
    }

    private static List<Suite> read(Path root, Instant since) throws Exception {
        List<Suite> suites = new ArrayList<>();
        for (Path file : reports(root)) {
            if (!Files.getLastModifiedTime(file).toInstant().isBefore(since)) {
                suites.add(suite(root.relativize(file), file));
            }
        }
        return suites;
    }

    private static List<Path> reports(Path root) throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                5,
                (path, attributes) ->
                        path.toString().matches("(.*/)?target/(surefire|failsafe)-reports/TEST-[^/]*\\.xml"))) {
            return files.sorted().toList();
        }
    }

    private static Suite suite(Path path, Path file) throws Exception {
        Document document =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        Element suite = document.getDocumentElement();
        String name = suite.getAttribute("name");
        return new Suite(
                path.subpath(0, path.getNameCount() - 3).toString(),
                name.substring(name.lastIndexOf('.') + 1),
                Double.parseDouble(suite.getAttribute("time").replace(",", "")),
                Integer.parseInt(suite.getAttribute("tests")),
                skipped(document.getElementsByTagName("skipped")));
    }

    private static List<String> skipped(NodeList elements) {
        List<String> reasons = new ArrayList<>();
        for (int i = 0; i < elements.getLength(); i++) {
            Element element = (Element) elements.item(i);
            String message = element.getAttribute("message");
            reasons.add(message.isEmpty() ? assumption(element) : message);
        }
        return reasons;
    }

    /** What an assumption that failed says, on the first line of its stack trace. */
    private static String assumption(Element skipped) {
        String failure = skipped.getTextContent().lines().findFirst().orElse("");
        String prefix = "Assumption failed: ";
        int start = failure.indexOf(prefix);
        return start < 0 ? "no reason given" : failure.substring(start + prefix.length());
    }
}

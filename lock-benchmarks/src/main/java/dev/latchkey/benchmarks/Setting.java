package dev.latchkey.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where and with what something was measured.
 *
 * @param measured when
 * @param revision of Latchkey
 * @param processor its model
 * @param processors how many this machine has
 * @param system the operating system
 * @param java the JDK
 * @param libraries versions of clients and peers
 * @param turns of each contender
 * @param turnMillis how long each was
 */
record Setting(
        String measured,
        String revision,
        String processor,
        int processors,
        String system,
        String java,
        Map<String, String> libraries,
        int turns,
        long turnMillis) {

    /** What {@code ./benchmark} tells of the checkout. */
    static final String REVISION = "latchkey.revision";

    /** Whether what is measured is in no commit. */
    static boolean isDirty() {
        return checkout().endsWith("-dirty");
    }

    private static String checkout() {
        return System.getProperty(REVISION, "unknown");
    }

    static Setting of(List<String> artifacts, Effort effort) {
        Map<String, String> libraries = new TreeMap<>();
        artifacts.forEach(artifact -> libraries.put(artifact, version(artifact)));
        return new Setting(
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                checkout(),
                model(),
                Placement.PROCESSORS,
                String.join(
                        " ",
                        System.getProperty("os.name"),
                        System.getProperty("os.version"),
                        System.getProperty("os.arch")),
                System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"),
                libraries,
                effort.turns(),
                effort.turn().toMillis());
    }

    static String version(String artifact) {
        Pattern jar = Pattern.compile(Pattern.quote(artifact) + "-(\\d.*)\\.jar");
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> jar.matcher(String.valueOf(Path.of(entry).getFileName())))
                .filter(Matcher::matches)
                .map(matcher -> matcher.group(1))
                .findFirst()
                .orElse("unknown");
    }

    private static String model() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}

package dev.latchkey.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Where a document has {@code lock run} or {@code lock lead} in a crontab, a systemd unit or a manifest of Kubernetes: as lines of shell that do
 * the same with a store in memory, for a second at the least, and without the command, so that they can be run anywhere.
 */
final class LockLines {

    /** Has {@code lock lead} end, and with 0: it would run its command again and again. */
    private static final String ENDING = "sh -c 'trap \"exit 0\" TERM; kill $PPID; while :; do sleep 0.1; done'";

    private LockLines() {}

    static List<String> of(Snippet snippet) {
        List<String> lines = switch (snippet.language()) {
            case "crontab" ->
                snippet.text()
                        .lines()
                        .filter(line -> !line.isBlank() && !line.startsWith("#"))
                        .map(LockLines::withoutTimes)
                        .toList();
            case "ini" ->
                snippet.text()
                        .lines()
                        .filter(line -> line.matches("Exec\\w+=.*"))
                        .map(line -> line.substring(line.indexOf('=') + 1))
                        .toList();
            case "yaml" -> manifests(snippet.text());
            default -> throw new IllegalArgumentException(snippet.language());
        };
        return lines.stream().map(LockLines::harmless).toList();
    }

    private static String withoutTimes(String line) {
        if (!line.matches("(?:[\\d*/,-]+\\s+){5}\\S.*")) {
            throw new AssertionError("not a line of a crontab: " + line);
        }
        return line.split("\\s+", 6)[5];
    }

    private static List<String> manifests(String text) {
        List<String> lines = new ArrayList<>();
        for (Object manifest : new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(text)) {
            collect(manifest, lines);
        }
        return lines;
    }

    private static void collect(Object node, List<String> lines) {
        if (node instanceof Map<?, ?> map) {
            map.values().forEach(value -> collect(value, lines));
        } else if (node instanceof List<?> list) {
            if (!list.isEmpty() && String.valueOf(list.get(0)).endsWith("/lock")) {
                lines.add(String.join(
                        " ", list.stream().map(word -> "'" + word + "'").toList()));
            }
            list.forEach(element -> collect(element, lines));
        }
    }

    private static String harmless(String line) {
        String[] parts = line.split("(?<=\\s)'?--'?(?=\\s)", 2);
        if (parts.length < 2 || !parts[0].matches("'?/\\S*/lock'? '?(run|lead)'? .*")) {
            throw new AssertionError("not a line with lock run or lead, and --: " + line);
        }
        String asked = parts[0].replaceFirst("^\\S+", "lock")
                .replaceAll("'?--store'? \\S+", "")
                .replaceAll("(?<=--min-hold'? '?)\\d+[smh]", "1s");
        boolean leads = asked.matches("lock '?lead.*");
        return "LATCHKEY_STORE=in-memory " + asked + "-- " + (leads ? ENDING : "true");
    }

    /** The blocks that have such lines; one that is a part of a file is not run. */
    static Stream<Snippet> in(List<Snippet> snippets) {
        return snippets.stream()
                .filter(snippet -> List.of("crontab", "ini", "yaml").contains(snippet.language()))
                .filter(snippet -> snippet.source().isEmpty());
    }
}

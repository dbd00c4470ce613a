package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.release.Reports.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every promise of {@code docs/promises.md} is shown by tests that ran in this build. */
class PromisesIT {

    private static final Path PAGE = Published.ROOT.resolve("docs/promises.md");
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:IT|Test|Contract))(?:#(\\w+))?`");
    private static final String COMBINED = "dev\\.latchkey\\..*\\.(Combined|Unanimous).*";

    /** Whose test a report is of. The tests of combined stores are where their members are. */
    private static final Map<String, String> TESTED_BY = Map.ofEntries(
            Map.entry("memory", "dev\\.latchkey\\.testkit\\.InMemory.*"),
            Map.entry("flock", "dev\\.latchkey\\.flock\\..*"),
            Map.entry("redis", "dev\\.latchkey\\.redis\\.Redis.*"),
            Map.entry("sql", "dev\\.latchkey\\.jdbc\\..*"),
            Map.entry("advisory", "dev\\.latchkey\\.postgres\\..*"),
            Map.entry("getlock", "dev\\.latchkey\\.mysql\\..*"),
            Map.entry("zookeeper", "dev\\.latchkey\\.zookeeper\\..*"),
            Map.entry("etcd", "dev\\.latchkey\\.etcd\\..*"),
            Map.entry("dynamodb", "dev\\.latchkey\\.dynamodb\\..*"),
            Map.entry("memcached", "dev\\.latchkey\\.memcached\\..*"),
            Map.entry("mongodb", "dev\\.latchkey\\.mongodb\\..*"),
            Map.entry("combined", COMBINED));

    /** Of a contract, each of these databases. */
    private static final List<String> DATABASES =
            List.of("dev\\.latchkey\\.jdbc\\.PostgreSqlStoreIT", "dev\\.latchkey\\.jdbc\\.MariaDbStoreIT");

    @Test
    void givenAPromise_thenTheTestsThatShowItRanOnEachStore() throws Exception {
        List<Ran> ran = Reports.read(Published.ROOT);
        List<String> wrong = new ArrayList<>();
        for (Row row : rows()) {
            row.tests().stream()
                    .filter(test -> ran.stream().noneMatch(test))
                    .forEach(test -> wrong.add(row.promise() + ": did not run: " + test));
            row.marks().forEach((store, mark) -> {
                if (mark.equals("✓") && !row.isShownOn(store, ran)) {
                    wrong.add(row.promise() + ": none of its tests ran on " + store);
                }
            });
        }

        assertThat(wrong)
                .as("%s, by the reports of all modules; ./verify makes them all", PAGE)
                .isEmpty();
    }

    @Test
    void givenThePage_thenEachRowSaysItOfEachStoreAndNamesATest() throws Exception {
        assertThat(rows()).hasSizeGreaterThan(50).allSatisfy(row -> {
            assertThat(row.tests()).as(row.promise()).isNotEmpty();
            assertThat(row.marks().values()).as(row.promise()).isSubsetOf("✓", "○", "–");
            assertThat(row.marks().size()).as(row.promise()).isIn(0, TESTED_BY.size());
            assertThat(TESTED_BY.keySet())
                    .as(row.promise())
                    .containsAll(row.marks().keySet());
        });
    }

    private static List<Row> rows() throws Exception {
        List<Row> rows = new ArrayList<>();
        List<String> header = List.of();
        for (String line : Files.readAllLines(PAGE)) {
            List<String> cells = cells(line);
            if (cells.isEmpty()) {
                header = List.of();
            } else if (header.isEmpty()) {
                header = cells;
            } else if (header.get(0).equals("promise") && !cells.get(0).startsWith("---")) {
                rows.add(Row.of(header, cells));
            }
        }
        return rows;
    }

    private static List<String> cells(String line) {
        return line.startsWith("|")
                ? Arrays.stream(line.substring(1).split("\\|"))
                        .map(String::strip)
                        .toList()
                : List.of();
    }

    /**
     * One promise.
     *
     * @param marks by store; none where a promise is the same on all
     */
    private record Row(String promise, Map<String, String> marks, List<Named> tests) {

        static Row of(List<String> header, List<String> cells) {
            Map<String, String> marks = new LinkedHashMap<>();
            for (int i = 1; i < header.size() - 1; i++) {
                marks.put(header.get(i), cells.get(i));
            }
            List<Named> tests = new ArrayList<>();
            Matcher named = TEST.matcher(cells.get(header.size() - 1));
            while (named.find()) {
                tests.add(new Named(named.group(1), named.group(2)));
            }
            return new Row(cells.get(0), marks, tests);
        }

        boolean isShownOn(String store, List<Ran> ran) {
            return tests.stream().anyMatch(test -> {
                List<String> types = store.equals("sql") && test.isOfAContract()
                        ? DATABASES
                        : List.of(TESTED_BY.getOrDefault(store, ""));
                return types.stream()
                        .allMatch(type -> ran.stream()
                                .anyMatch(one -> one.type().matches(type)
                                        && (store.equals("combined")
                                                || !one.type().matches(COMBINED))
                                        && test.test(one)));
            });
        }
    }

    /**
     * A test as the page names it.
     *
     * @param method null for all of the class
     */
    private record Named(String type, String method) implements Predicate<Ran> {

        boolean isOfAContract() {
            return type.endsWith("Contract");
        }

        @Override
        public boolean test(Ran ran) {
            return (isOfAContract() || ran.simpleType().equals(type))
                    && (method == null || ran.method().equals(method));
        }

        @Override
        public String toString() {
            return method == null ? type : type + "#" + method;
        }
    }
}

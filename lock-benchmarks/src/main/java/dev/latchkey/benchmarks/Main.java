package dev.latchkey.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures stores beside their peers, prints tables, and writes pages, charts and raw figures. */
@Command(
        name = "./benchmark",
        mixinStandardHelpOptions = true,
        description =
                "Measures stores beside their peers: prints tables with ratios of this run, and writes pages, charts and"
                        + " raw figures.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all was measured",
            "1:a store could not be, was still getting faster, or let two in at once",
            "2:wrong arguments"
        })
final class Main implements Callable<Integer> {

    private static final Path PROFILES = Path.of("target", "profiles");

    @Parameters(
            paramLabel = "store",
            description = "What to measure; all if none is named: ${COMPLETION-CANDIDATES}.",
            completionCandidates = Stores.class)
    private List<String> stores = List.of();

    @Option(
            names = "--output",
            description = "Where the files go (default: ${DEFAULT-VALUE}).",
            defaultValue = "docs/benchmarks")
    private Path output = Path.of("docs/benchmarks");

    @Option(
            names = "--only",
            paramLabel = "table",
            split = ",",
            description = "Measure these tables alone, such as uncontended, threads, processes; no file is written.")
    private List<String> tables = List.of();

    @Option(names = "--unpinned", description = "Let all run on all processors.")
    private boolean isUnpinned;

    @Option(
            names = "--quick",
            description = "A few cycles of each, to see that everything works; no file is written,"
                    + " unless --output is given.")
    private boolean isQuick;

    @Option(
            names = "--profile",
            description = "Measure nothing, but write a flame graph of each contender to target/profiles.")
    private boolean isProfiled;

    @Spec
    private CommandSpec command = CommandSpec.create();

    /** The names of all stores, for the help. */
    static final class Stores implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Contests.stores().iterator();
        }
    }

    /**
     * Runs the command.
     *
     * @param args of {@code ./benchmark}
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public Integer call() {
        Map<Contest, List<Table>> chosen = new LinkedHashMap<>();
        contests().forEach(contest -> chosen.put(contest, chosen(contest)));
        if (writes() && Setting.isDirty()) {
            throw wrong("the checkout has changes that are not committed, so that nobody could tell what was measured:"
                    + " commit them, or use --only or --quick, which write no file");
        }
        if (isProfiled) {
            chosen.forEach((contest, tables) ->
                    new Profile(contest, effort(), PROFILES).of(tables).forEach(file -> System.out.println(file)));
            return 0;
        }
        return chosen.entrySet().stream()
                .mapToInt(one -> tried(one.getKey(), one.getValue()))
                .max()
                .orElse(0);
    }

    private int tried(Contest contest, List<Table> chosen) {
        long start = System.nanoTime();
        System.out.println("# " + contest.store());
        try {
            return measure(contest, chosen);
        } catch (RuntimeException | AssertionError e) {
            // The servers' harness says by an AssertionError what to install; the other stores are measured all the
            // same.
            System.err.println("benchmark: " + contest.store() + " could not be measured");
            e.printStackTrace();
            return 1;
        } finally {
            System.out.printf(
                    "%n(%d s)%n%n", Duration.ofNanos(System.nanoTime() - start).toSeconds());
        }
    }

    private int measure(Contest contest, List<Table> chosen) {
        Figures figures = new Race(contest, effort()).run(chosen);
        figures.tables().forEach(table -> System.out.print("\n" + Page.table(table)));
        List<String> unsteady = figures.unsteady();
        if (!unsteady.isEmpty()) {
            System.err.println("benchmark: " + contest.store() + " is not written, because the last turns were faster"
                    + " than the first by more than 15 %, beside the speed of the machine: "
                    + String.join("; ", unsteady)
                    + ". Run it again on a machine without other load");
        } else if (writes()) {
            new Results(output).add(figures);
        }
        return figures.showOverlapsOfOurs() || !unsteady.isEmpty() ? 1 : 0;
    }

    private Effort effort() {
        return isQuick ? Effort.QUICK : Effort.FULL;
    }

    private boolean writes() {
        return !isProfiled
                && tables.isEmpty()
                && (!isQuick || command.commandLine().getParseResult().hasMatchedOption("--output"));
    }

    private List<Contest> contests() {
        return (stores.isEmpty() ? Contests.stores() : stores)
                .stream()
                        .map(store -> Contests.of(store)
                                .orElseThrow(() -> wrong("there is no store " + store + " but " + Contests.stores())))
                        .toList();
    }

    private List<Table> chosen(Contest contest) {
        Map<String, Table> chosen = new LinkedHashMap<>();
        for (Table table : contest.tables()) {
            boolean isMovable = isUnpinned || !Placement.canPin();
            Table placed = isMovable ? table.unpinned() : table;
            if (tables.isEmpty() || tables.contains(table.name())) {
                // What was there twice, pinned and not, is the same now.
                chosen.putIfAbsent(isMovable ? placed.title() : placed.name(), placed);
            }
        }
        if (chosen.isEmpty()) {
            throw wrong(contest.store() + " has only these tables: "
                    + contest.tables().stream().map(Table::name).toList());
        }
        return List.copyOf(chosen.values());
    }

    private ParameterException wrong(String message) {
        return new ParameterException(command.commandLine(), "benchmark: " + message);
    }
}

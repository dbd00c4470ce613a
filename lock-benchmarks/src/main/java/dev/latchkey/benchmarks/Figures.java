package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.Contender.Mode;
import dev.latchkey.benchmarks.Contender.Role;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All that was measured for a store: the content of its raw file, from which everything else is made.
 *
 * @param store as the command has it
 * @param setting where and with what
 * @param tables in their order
 */
record Figures(String store, Setting setting, List<Measured> tables) {

    /** How many times as fast the last turns may be as the first, each beside the speed of the machine. */
    private static final double STEADY = 1.15;

    /** Of how many turns at each end the median is compared. */
    private static final int END = 5;

    /** Whether a contender of ours was let in while another was inside. */
    boolean showOverlapsOfOurs() {
        return tables.stream()
                .flatMap(table -> table.rows().stream())
                .anyMatch(row -> row.role() == Role.LATCHKEY && row.overlaps() > 0);
    }

    /** How fast the machine was before each turn; empty in figures that are older than it. */
    DoubleSummaryStatistics machineSpeeds() {
        return tables.stream()
                .flatMap(table -> table.rows().stream())
                .flatMap(row -> row.turns().stream())
                .map(MeasuredTurn::machineSpeed)
                .filter(Objects::nonNull)
                .mapToDouble(Double::doubleValue)
                .summaryStatistics();
    }

    /** The exclusive contenders of tables like that one which it does not have. */
    List<String> absentFrom(Measured table) {
        List<String> present = table.rows().stream().map(Row::contender).toList();
        return tables.stream()
                .map(other -> other.rows().stream()
                        .filter(row -> row.mode() == Mode.EXCLUSIVE)
                        .map(Row::contender)
                        .toList())
                .filter(others -> !Collections.disjoint(others, present))
                .flatMap(List::stream)
                .filter(name -> !present.contains(name))
                .distinct()
                .toList();
    }

    /** The contenders that got faster and faster: what they can do is not known. */
    List<String> unsteady() {
        return tables.stream().flatMap(table -> table.unsteady().stream()).toList();
    }

    /**
     * One table.
     *
     * @param servers with their versions; empty if there are none
     * @param stride how many cycles were timed as one
     */
    record Measured(
            String name,
            String title,
            String placement,
            String servers,
            int processes,
            int threads,
            int stride,
            List<Row> rows) {

        boolean isContended() {
            return processes * threads > 1;
        }

        /** The contenders that got faster and faster in it. */
        List<String> unsteady() {
            return rows.stream()
                    .filter(row -> row.trend() > STEADY)
                    .map(row -> String.format(Locale.ROOT, "%s, %s (%.2f×)", row.contender(), title, row.trend()))
                    .toList();
        }

        /** What a row is compared with: Latchkey's of the same mode. */
        Row oursFor(Row row) {
            return rows.stream()
                    .filter(one -> one.role() == Role.LATCHKEY && one.mode() == row.mode())
                    .findFirst()
                    .orElse(rows.get(0));
        }

        /** How many times as fast Latchkey is; not a number where there is nothing to compare. */
        double ratio(Row row) {
            return oursFor(row).cyclesPerSecond() / row.cyclesPerSecond();
        }
    }

    /**
     * One contender in a table.
     *
     * @param cut why it is out of the race; null if it is not
     */
    record Row(
            String contender,
            Role role,
            Mode mode,
            String without,
            List<MeasuredTurn> turns,
            @Nullable String cut) {

        double cyclesPerSecond() {
            return median(turns, MeasuredTurn::cyclesPerSecond);
        }

        double slowestTurn() {
            return turns.stream()
                    .mapToDouble(MeasuredTurn::cyclesPerSecond)
                    .min()
                    .orElse(Double.NaN);
        }

        double fastestTurn() {
            return turns.stream()
                    .mapToDouble(MeasuredTurn::cyclesPerSecond)
                    .max()
                    .orElse(Double.NaN);
        }

        /** How many times as fast the last turns were as the first, beside the speed of the machine; 1 if there are too few to tell. */
        double trend() {
            int done = turns.size();
            return done < 2 * END
                    ? 1
                    : median(turns.subList(done - END, done), MeasuredTurn::cyclesPerRoundTrip)
                            / median(turns.subList(0, END), MeasuredTurn::cyclesPerRoundTrip);
        }

        double fairness() {
            return median(turns, MeasuredTurn::fairness);
        }

        /** What the JVM with the fewest cycles had of its due, in the median of the turns. */
        double leastShare(int processes) {
            return median(turns, turn -> turn.leastShare(processes));
        }

        double p50Micros() {
            return median(turns, turn -> turn.times().p50Micros());
        }

        double p99Micros() {
            return median(turns, turn -> turn.times().p99Micros());
        }

        /** The longest of all turns. */
        double maxMicros() {
            return turns.stream()
                    .mapToDouble(turn -> turn.times().maxMicros())
                    .max()
                    .orElse(Double.NaN);
        }

        /** What clients and servers take of the processor for a cycle. */
        double cpuMicrosPerCycle() {
            return median(turns, MeasuredTurn::cpuMicrosPerCycle);
        }

        double requestsPerCycle() {
            return median(turns, MeasuredTurn::requestsPerCycle);
        }

        long overlaps() {
            return turns.stream().mapToLong(MeasuredTurn::overlaps).sum();
        }

        /** Not a number if a turn does not have it. */
        private static double median(List<MeasuredTurn> some, Function<MeasuredTurn, @Nullable Double> figure) {
            List<Double> sorted = some.stream()
                    .map(turn -> Objects.requireNonNullElse(figure.apply(turn), Double.NaN))
                    .sorted()
                    .toList();
            return sorted.isEmpty() || sorted.contains(Double.NaN) ? Double.NaN : sorted.get(sorted.size() / 2);
        }
    }

    /** The rows that may be compared with Latchkey's exclusive one. */
    static Stream<Row> rivals(Measured table, Role role) {
        return table.rows().stream()
                .filter(row -> row.role() == role && row.mode() == Mode.EXCLUSIVE && row.cut() == null);
    }
}

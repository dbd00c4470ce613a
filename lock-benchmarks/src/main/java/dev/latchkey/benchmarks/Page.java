package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.Figures.Measured;
import dev.latchkey.benchmarks.Figures.Row;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What was measured for a store, as Markdown. */
final class Page {

    private static final String NOTHING = "–";

    /** A column of a table, left out where no row has anything in it. */
    private record Column(String title, Function<Row, String> cell) {}

    private Page() {}

    static String of(Figures figures) {
        StringBuilder page = new StringBuilder();
        String store = figures.store();
        page.append("# Measured: ").append(store).append("\n\n");
        page.append("Made by `./benchmark ").append(store).append("`; not to be edited. ");
        page.append("[How this is measured, and how to read it](../benchmarks.md). ");
        page.append("Every turn's figures: [")
                .append(store)
                .append(".json](")
                .append(store)
                .append(".json).\n\n");
        page.append("![Cycles a second of each lock](").append(store).append(".svg)\n\n");
        page.append(setting(figures));
        figures.tables().forEach(table -> page.append('\n').append(table(table)).append(absent(figures, table)));
        page.append('\n').append(without(figures));
        return page.toString();
    }

    private static String setting(Figures figures) {
        Setting setting = figures.setting();
        String servers =
                figures.tables().stream().map(Measured::servers).distinct().collect(Collectors.joining("; "));
        StringBuilder rows = new StringBuilder("| | |\n|---|---|\n");
        row(rows, "measured", setting.measured() + ", revision " + setting.revision());
        row(rows, "machine", setting.processors() + " × " + setting.processor() + ", " + setting.system());
        row(rows, "JDK", setting.java());
        row(rows, "servers", servers.isEmpty() ? "none" : servers);
        if (!setting.libraries().isEmpty()) {
            row(
                    rows,
                    "clients and peers",
                    setting.libraries().entrySet().stream()
                            .map(library -> library.getKey() + " " + library.getValue())
                            .collect(Collectors.joining(", ")));
        }
        row(rows, "turns", setting.turns() + " of " + setting.turnMillis() + " ms, in alternation; medians");
        DoubleSummaryStatistics machineSpeeds = figures.machineSpeeds();
        if (machineSpeeds.getCount() > 0) {
            row(
                    rows,
                    "speed of the machine",
                    number(machineSpeeds.getMin()) + "–" + number(machineSpeeds.getMax())
                            + " round trips/s of a byte between two threads");
        }
        return rows.toString();
    }

    private static void row(StringBuilder rows, String name, String value) {
        rows.append("| ").append(name).append(" | ").append(value).append(" |\n");
    }

    /** One table with its heading. */
    static String table(Measured table) {
        List<Column> columns = columns(table).stream()
                .filter(column -> table.rows().stream()
                        .anyMatch(row -> !column.cell().apply(row).equals(NOTHING)))
                .toList();
        StringBuilder lines = new StringBuilder("## " + table.title() + "\n\n" + table.placement() + "\n\n");
        lines.append(line(columns.stream().map(Column::title).toList()));
        lines.append("|---|").append("---:|".repeat(columns.size() - 1)).append('\n');
        for (Row row : table.rows()) {
            lines.append(line(
                    columns.stream().map(column -> column.cell().apply(row)).toList()));
        }
        table.rows().stream()
                .filter(row -> row.cut() != null)
                .forEach(row -> lines.append("\nCut: ")
                        .append(row.contender())
                        .append("; ")
                        .append(row.cut())
                        .append(".\n"));
        table.rows().stream()
                .filter(row -> row.overlaps() > 0)
                .forEach(row -> lines.append("\n**Not exclusive:** ")
                        .append(row.contender())
                        .append(" let ")
                        .append(row.overlaps())
                        .append(" in while another was inside.\n"));
        return lines.toString();
    }

    private static String absent(Figures figures, Measured table) {
        String names = String.join("; ", figures.absentFrom(table));
        return names.isEmpty()
                ? ""
                : "\nNot in this table, [and why](../benchmarks.md#what-is-in-a-table): " + names + ".\n";
    }

    private static List<Column> columns(Measured table) {
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("lock", Row::contender));
        columns.add(new Column("cycles/s", row -> number(row.cyclesPerSecond())));
        columns.add(new Column(
                "slowest–fastest turn",
                row -> row.turns().isEmpty() ? NOTHING : number(row.slowestTurn()) + "–" + number(row.fastestTurn())));
        columns.add(new Column("Latchkey is faster by", row -> ratio(table.ratio(row))));
        columns.add(new Column("CPU µs/cycle", row -> number(row.cpuMicrosPerCycle())));
        columns.add(new Column(
                "Latchkey is cheaper by",
                row -> ratio(row.cpuMicrosPerCycle() / table.oursFor(row).cpuMicrosPerCycle())));
        columns.add(new Column("p50 µs", row -> number(row.p50Micros())));
        columns.add(new Column("p99 µs", row -> number(row.p99Micros())));
        columns.add(new Column("max µs", row -> number(row.maxMicros())));
        columns.add(new Column("requests/cycle", row -> hundredths(row, row.requestsPerCycle())));
        if (table.processes() > 1) {
            columns.add(new Column("least share of a JVM", row -> hundredths(row, row.leastShare(table.processes()))));
        }
        if (table.isContended()) {
            columns.add(new Column("fairness", row -> hundredths(row, row.fairness())));
            columns.add(new Column("overlaps", row -> Long.toString(row.overlaps())));
        }
        return columns;
    }

    private static String hundredths(Row row, double value) {
        return row.turns().isEmpty() || Double.isNaN(value) ? NOTHING : String.format(Locale.ROOT, "%.2f", value);
    }

    private static String line(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |\n";
    }

    /** With as many digits as mean something. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return NOTHING;
        }
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
    }

    /** Two digits after the point, and three where the first two would say nothing. */
    static String ratio(double value) {
        return Double.isNaN(value) ? NOTHING : String.format(Locale.ROOT, value < 0.1 ? "%.3f×" : "%.2f×", value);
    }

    private static String without(Figures figures) {
        StringBuilder lines = new StringBuilder("What the others do without, in comparison with Latchkey:\n\n");
        figures.tables().stream()
                .flatMap(table -> table.rows().stream())
                .filter(row -> !row.without().isEmpty())
                .map(row -> "- " + row.contender() + ": " + row.without() + "\n")
                .distinct()
                .forEach(lines::append);
        return lines.toString();
    }
}

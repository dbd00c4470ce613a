package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.Contender.Role;
import dev.latchkey.benchmarks.Figures.Measured;
import dev.latchkey.benchmarks.Figures.Row;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** All stores that were measured, as one page of Markdown. */
final class Index {

    private Index() {}

    static String of(List<Figures> all) {
        StringBuilder page = new StringBuilder("# Measured\n\n");
        page.append(
                "Made by `./benchmark`; not to be edited. A ratio says how many times as fast Latchkey is, as the"
                        + " median of turns in alternation; below 1 it is slower. The floor is the least that locks there, the"
                        + " peer the fastest one of the same run. [How this is measured, and how to read it](../benchmarks.md).\n\n");
        page.append("| store | conditions | beside the floor | beside the fastest peer | measured |\n");
        page.append("|---|---|---|---|---|\n");
        for (Figures figures : all) {
            for (Measured table : figures.tables()) {
                page.append(line(figures, table));
            }
        }
        all.forEach(figures -> page.append(
                String.format("%n## %1$s%n%n[![Cycles a second of each lock](%1$s.svg)](%1$s.md)%n", figures.store())));
        return page.toString();
    }

    private static String line(Figures figures, Measured table) {
        return String.format(
                "| [%1$s](%1$s.md) | %2$s; %3$s | %4$s | %5$s | %6$s |%n",
                figures.store(),
                table.title(),
                table.placement(),
                compared(table, Figures.rivals(table, Role.FLOOR).findFirst()),
                compared(table, Figures.rivals(table, Role.PEER).max(Comparator.comparingDouble(Row::cyclesPerSecond))),
                figures.setting().measured().substring(0, 10));
    }

    private static String compared(Measured table, Optional<Row> with) {
        return with.map(row -> Page.ratio(table.ratio(row)) + " " + row.contender())
                .orElse("–");
    }
}

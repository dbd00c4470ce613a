package dev.latchkey.cli;

import dev.latchkey.LockMode;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Resources as lines with columns. The owner comes last, for it may be long, and nothing is cut off. */
final class ResourceTable {

    static final String UNKNOWN = "-";

    private static final List<String> TITLES = List.of("NAME", "MODE", "HELD", "LEASE", "WAITING", "TOKEN", "OWNER");

    /** A few long names must not push all columns out of sight. */
    private static final int WIDEST = 40;

    private final List<List<String>> rows;
    private final int[] widths;

    ResourceTable(List<ListedResource> resources) {
        rows = resources.stream().map(ResourceTable::row).toList();
        widths = IntStream.range(0, TITLES.size()).map(this::width).toArray();
    }

    private int width(int column) {
        int widest = rows.stream()
                .mapToInt(row -> row.get(column).length())
                .filter(length -> length <= WIDEST)
                .max()
                .orElse(0);
        return Math.max(widest, TITLES.get(column).length());
    }

    String heading() {
        return line(TITLES);
    }

    List<String> lines() {
        return rows.stream().map(this::line).toList();
    }

    private String line(List<String> row) {
        StringBuilder line = new StringBuilder();
        int last = row.size() - 1;
        for (int column = 0; column < last; column++) {
            String cell = row.get(column);
            line.append(cell).append(" ".repeat(Math.max(0, widths[column] - cell.length()) + 2));
        }
        return line.append(row.get(last)).toString();
    }

    private static List<String> row(ListedResource listed) {
        List<Holder> holders = listed.holders();
        List<String> row = new ArrayList<>();
        row.add(Text.oneLine(listed.resource()));
        row.add(mode(holders));
        row.add(longestHeld(listed).map(DurationText::format).orElse(UNKNOWN));
        row.add(holders.stream()
                .flatMap(holder -> holder.remaining().stream())
                .max(Comparator.naturalOrder())
                .map(DurationText::format)
                .orElse(UNKNOWN));
        row.add(waiting(listed));
        row.add(holders.stream()
                .flatMapToLong(holder -> holder.fencingToken().stream())
                .mapToObj(Long::toString)
                .findFirst()
                .orElse(UNKNOWN));
        row.add(owner(holders));
        return row;
    }

    private static String mode(List<Holder> holders) {
        boolean isShared = holders.stream().allMatch(holder -> holder.mode() == LockMode.SHARED);
        return !isShared ? "exclusive" : holders.size() == 1 ? "shared" : "shared×" + holders.size();
    }

    static Optional<Duration> longestHeld(ListedResource listed) {
        return listed.holders().stream()
                .flatMap(holder -> holder.held().stream())
                .max(Comparator.naturalOrder());
    }

    static Optional<Duration> longestWait(ListedResource listed) {
        return listed.waiters().stream()
                .flatMap(List::stream)
                .flatMap(waiter -> waiter.waited().stream())
                .max(Comparator.naturalOrder());
    }

    static String waiting(ListedResource listed) {
        return listed.waiters()
                .map(List<QueuedWaiter>::size)
                .map(String::valueOf)
                .orElse(UNKNOWN);
    }

    static String owner(List<Holder> holders) {
        String first = holders.stream()
                .flatMap(holder -> holder.description().stream())
                .findFirst()
                .map(Text::oneLine)
                .orElse(UNKNOWN);
        return holders.size() > 1 ? first + " and " + (holders.size() - 1) + " more" : first;
    }
}

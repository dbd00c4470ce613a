package dev.latchkey.cli.top;

import dev.latchkey.LockMode;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/** The columns for which a terminal has the width, and the line of a resource in them. */
final class Columns {

    private static final String UNKNOWN = "-";
    private static final int NARROWEST = 18;
    private static final int NARROW = 50;
    private static final int USUAL = 70;
    private static final int WIDE = 110;
    private static final int TIME = 7;

    private record Row(ListedResource listed, Duration age) {}

    private record Column(String title, int width, boolean isNumber, Function<Row, String> text) {}

    private final List<Column> columns = new ArrayList<>();

    Columns(int width) {
        add("NAME", 0, row -> Text.oneLine(row.listed().resource()));
        if (width >= WIDE) {
            add("MODE", 11, row -> mode(row.listed().holders()));
        }
        if (width >= NARROW) {
            addNumber("HELD", TIME, row -> older(Reading.longestHeld(row.listed()), row));
            addNumber("LEASE", TIME, Columns::lease);
        }
        if (width >= NARROWEST) {
            addNumber(
                    "WAITING",
                    TIME,
                    row -> row.listed().waiters().isEmpty()
                            ? UNKNOWN
                            : Integer.toString(Reading.waiters(row.listed())));
        }
        if (width >= NARROW) {
            addNumber("LONGEST", TIME, row -> older(Reading.longestWait(row.listed()), row));
        }
        if (width >= WIDE) {
            addNumber(
                    "TOKEN", 19, row -> token(row.listed()).map(String::valueOf).orElse(UNKNOWN));
        }
        int left =
                width - columns.stream().mapToInt(column -> column.width() + 1).sum() + 1;
        int owner = width >= USUAL ? left * 2 / 5 : 0;
        if (owner > 0) {
            add("OWNER", owner, row -> owner(row.listed().holders()));
        }
        Column name = columns.get(0);
        int nameWidth = Math.max(1, left - (owner > 0 ? owner + 1 : 0));
        columns.set(0, new Column(name.title(), nameWidth, false, name.text()));
    }

    private void add(String title, int width, Function<Row, String> text) {
        columns.add(new Column(title, width, false, text));
    }

    private void addNumber(String title, int width, Function<Row, String> text) {
        columns.add(new Column(title, width, true, text));
    }

    String heading() {
        return line(Column::title);
    }

    /** Returns the line of a resource, as its times are by now. */
    String line(ListedResource listed, Duration age) {
        Row row = new Row(listed, age);
        return line(column -> column.text().apply(row));
    }

    private String line(Function<Column, String> text) {
        List<String> cells = new ArrayList<>();
        for (Column column : columns) {
            String cell = fit(text.apply(column), column.width());
            String blank = " ".repeat(column.width() - width(cell));
            cells.add(column.isNumber() ? blank + cell : cell + blank);
        }
        return String.join(" ", cells);
    }

    /** Cuts off what is too wide for this many columns of a terminal, in which some characters take two. */
    static String fit(String text, int width) {
        AttributedString whole = new AttributedString(text);
        if (whole.columnLength() <= width) {
            return text;
        }
        return width < 1 ? "" : whole.columnSubSequence(0, width - 1) + "…";
    }

    static AttributedString line(String text, int width, AttributedStyle style) {
        return new AttributedString(fit(text, width), style);
    }

    static int width(String text) {
        return new AttributedString(text).columnLength();
    }

    static Optional<Long> token(ListedResource listed) {
        return listed.holders().stream()
                .flatMapToLong(holder -> holder.fencingToken().stream())
                .boxed()
                .findFirst();
    }

    static String owner(List<Holder> holders) {
        String first = holders.stream()
                .flatMap(holder -> holder.description().stream())
                .findFirst()
                .map(Text::oneLine)
                .orElse(UNKNOWN);
        return holders.size() > 1 ? holders.size() + ": " + first : first;
    }

    private static String mode(List<Holder> holders) {
        boolean isShared = holders.stream().allMatch(holder -> holder.mode() == LockMode.SHARED);
        return !isShared ? "exclusive" : holders.size() == 1 ? "shared" : "shared×" + holders.size();
    }

    private static String older(Optional<Duration> time, Row row) {
        return time.map(read -> length(read.plus(row.age()))).orElse(UNKNOWN);
    }

    private static String lease(Row row) {
        return row.listed().holders().stream()
                .flatMap(holder -> holder.remaining().stream())
                .max(Comparator.naturalOrder())
                .map(left -> length(left.minus(row.age())))
                .orElse(UNKNOWN);
    }

    /** Seven columns at most, for less than three years. */
    static String length(Duration duration) {
        Duration shown = duration.isNegative() ? Duration.ZERO : duration;
        if (shown.toMinutes() < 1) {
            return shown.toSeconds() + " s";
        }
        if (shown.toHours() < 1) {
            return shown.toMinutes() + "m " + shown.toSecondsPart() + "s";
        }
        if (shown.toDays() < 1) {
            return shown.toHours() + "h " + shown.toMinutesPart() + "m";
        }
        return shown.toDays() + "d " + shown.toHoursPart() + "h";
    }
}

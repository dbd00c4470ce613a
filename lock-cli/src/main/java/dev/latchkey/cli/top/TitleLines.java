package dev.latchkey.cli.top;

import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/** The lines above the list: what is held in all and how long is waited, whether that is true by now, and the columns. */
final class TitleLines {

    static final int HEIGHT = 3;

    private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
    private static final AttributedStyle TROUBLE = PLAIN.foreground(AttributedStyle.RED);

    private final String title;
    private final Duration oldest;

    private Reading reading;
    private Optional<String> trouble = Optional.empty();

    /**
     * Creates the lines.
     *
     * @param title what is shown
     * @param oldest what was read may be this old without a word about it
     * @param first what was held at first
     */
    TitleLines(String title, Duration oldest, Reading first) {
        this.title = title;
        this.oldest = oldest;
        reading = first;
    }

    void show(Reading newest) {
        reading = newest;
        trouble = Optional.empty();
    }

    void showTrouble(String message) {
        trouble = Optional.of(message);
    }

    List<AttributedString> lines(Columns columns, Duration age, int width, String filter) {
        List<AttributedString> lines = new ArrayList<>();
        lines.add(Columns.line(title + "   " + totals(age), width, PLAIN.bold()));
        lines.add(Columns.line(status(age, filter), width, trouble.isPresent() ? TROUBLE : PLAIN.faint()));
        lines.add(Columns.line(columns.heading(), width, PLAIN.underline()));
        return lines;
    }

    private String totals(Duration age) {
        int waiting = reading.resources().stream().mapToInt(Reading::waiters).sum();
        String longest = reading.resources().stream()
                .flatMap(listed -> Reading.longestWait(listed).stream())
                .max(Comparator.naturalOrder())
                .map(waited -> ", the longest for " + Columns.length(waited.plus(age)))
                .orElse("");
        return reading.resources().size() + (reading.isComplete() ? "" : "+") + " held, " + waiting + " waiting"
                + longest;
    }

    private String status(Duration age, String filter) {
        if (trouble.isPresent()) {
            return "the store fails, this was held " + Columns.length(age) + " ago: " + trouble.get();
        }
        if (age.compareTo(oldest) > 0) {
            return "as it was " + Columns.length(age) + " ago: listing takes long";
        }
        if (!reading.isComplete()) {
            return "more are held than are shown: start lock top with a PREFIX";
        }
        if (!filter.isEmpty()) {
            return reading.beginningWith(filter).size() + " whose names begin with " + Text.quoted(filter)
                    + " (Esc: all)";
        }
        return reading.resources().isEmpty() ? "nothing is held" : "";
    }
}

package dev.latchkey.cli.top;

import dev.latchkey.console.Text;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** What is typed into a line, whose end is edited. */
final class TypedText {

    private static final int LONGEST = 1_000;

    private final StringBuilder text = new StringBuilder();

    void edit(Keystroke key) {
        if (key.kind() == Keystroke.Kind.BACKSPACE && text.length() > 0) {
            text.setLength(text.offsetByCodePoints(text.length(), -1));
        } else if (key.kind() == Keystroke.Kind.CHARACTER && text.length() < LONGEST) {
            text.append(key.character());
        }
    }

    void clear() {
        text.setLength(0);
    }

    boolean isEmpty() {
        return text.isEmpty();
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** Returns the line in which it is typed: the end of the text is seen, and a block where the next character goes. */
    AttributedString line(String label, int width) {
        String shown = Text.visible(toString());
        String shownLabel = Columns.fit(label, Math.max(0, width - 2));
        int left = Math.max(0, width - 1 - Columns.width(shownLabel));
        while (Columns.width(shown) > left) {
            shown = shown.substring(shown.offsetByCodePoints(0, 1));
        }
        return new AttributedStringBuilder()
                .append(shownLabel, AttributedStyle.BOLD)
                .append(shown)
                .append(" ", AttributedStyle.INVERSE)
                .toAttributedString();
    }
}

package dev.latchkey.cli.top;

import dev.latchkey.cli.top.Keystroke.Kind;
import dev.latchkey.spi.ListedResource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/** What the screen shows, and what keys do. Reads nothing, draws nothing and ends no hold. Not thread-safe. */
public final class TopView {

    private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
    private static final AttributedStyle WAITED_FOR = PLAIN.foreground(AttributedStyle.YELLOW);

    private final TitleLines titles;
    private final boolean canEndHolds;
    private final Selection selection = new Selection();
    private final TypedText filter = new TypedText();

    private Reading reading;
    private boolean isFilterTyped;
    private Optional<BreakDialog> dialog = Optional.empty();
    private Optional<String> note = Optional.empty();
    private int listHeight = 1;

    /**
     * Creates a view.
     *
     * @param title what is shown, such as the name of the store: one line without control characters
     * @param canEndHolds whether the store can end the hold of somebody else
     * @param oldest what was read may be this old without a word about it
     * @param first what was held at first
     */
    public TopView(String title, boolean canEndHolds, Duration oldest, Reading first) {
        this.canEndHolds = canEndHolds;
        titles = new TitleLines(title, oldest, first);
        reading = first;
        arrange();
    }

    /**
     * Shows what is held now.
     *
     * @param newest what is held
     */
    public void show(Reading newest) {
        reading = newest;
        titles.show(newest);
        arrange();
    }

    /**
     * Shows that the store failed; what was held before stays.
     *
     * @param message why, one line
     */
    public void showTrouble(String message) {
        titles.showTrouble(message);
    }

    /**
     * Shows a line at the bottom until the next key.
     *
     * @param line one line without control characters
     */
    public void showNote(String line) {
        note = Optional.of(line);
    }

    private void arrange() {
        selection.replace(reading.beginningWith(filter.toString()));
    }

    /**
     * Does what a key means.
     *
     * @param key the key
     * @return what is left to do for the caller
     */
    public Action press(Keystroke key) {
        note = Optional.empty();
        if (key.kind() == Kind.END_OF_INPUT) {
            return new Action.Quit();
        }
        if (key.kind() == Kind.REDRAW) {
            return new Action.Redraw();
        }
        if (dialog.isPresent()) {
            return pressInDialog(dialog.get(), key);
        }
        return isFilterTyped ? pressInFilter(key) : pressInList(key);
    }

    private Action pressInList(Keystroke key) {
        switch (key.kind()) {
            case UP -> selection.move(-1);
            case DOWN -> selection.move(1);
            case PAGE_UP -> selection.move(-listHeight);
            case PAGE_DOWN -> selection.move(listHeight);
            case HOME -> selection.chooseFirst();
            case END -> selection.move(selection.size());
            case ESCAPE -> clearFilter();
            case CHARACTER -> {
                return pressCharacter(key.character());
            }
            default -> {}
        }
        return new Action.Stay();
    }

    private Action pressCharacter(char character) {
        switch (character) {
            case 'q' -> {
                return new Action.Quit();
            }
            case '/' -> isFilterTyped = true;
            case 'b' -> openDialog();
            case 'j' -> selection.move(1);
            case 'k' -> selection.move(-1);
            default -> {}
        }
        return new Action.Stay();
    }

    private void clearFilter() {
        filter.clear();
        arrange();
    }

    private Action pressInFilter(Keystroke key) {
        switch (key.kind()) {
            case ESCAPE -> {
                isFilterTyped = false;
                clearFilter();
            }
            case ENTER, UP, DOWN -> isFilterTyped = false;
            default -> {
                filter.edit(key);
                arrange();
                selection.chooseFirst();
            }
        }
        return new Action.Stay();
    }

    private void openDialog() {
        Optional<ListedResource> chosen = selection.chosen();
        if (chosen.isEmpty()) {
            showNote("nothing is chosen");
        } else if (!canEndHolds) {
            showNote("this store cannot end the hold of somebody else: end the process that holds it");
        } else {
            dialog = BreakDialog.of(chosen.get());
            if (dialog.isEmpty()) {
                showNote("this hold has no fencing token, as one that is shared: it cannot be ended so");
            }
        }
    }

    private Action pressInDialog(BreakDialog open, Keystroke key) {
        if (key.kind() == Kind.ESCAPE) {
            dialog = Optional.empty();
            showNote("nothing was ended");
        } else if (key.kind() == Kind.ENTER) {
            dialog = Optional.empty();
            return endHold(open);
        } else {
            open.edit(key);
        }
        return new Action.Stay();
    }

    private Action endHold(BreakDialog open) {
        Optional<Action.EndHold> confirmed = open.confirmed();
        if (confirmed.isEmpty()) {
            showNote("this is not the fencing token of the hold: nothing was ended");
            return new Action.Stay();
        }
        showNote("ending the hold of " + open.name() + " …");
        return confirmed.get();
    }

    /**
     * Returns the screen: as many lines as it is high, each shorter than it is wide.
     *
     * @param height the lines of the terminal
     * @param width the columns of the terminal
     * @param nanoTime the time now
     * @return the lines
     */
    public List<AttributedString> lines(int height, int width, long nanoTime) {
        int usable = Math.max(1, width - 1);
        Duration age = Duration.ofNanos(Math.max(0, nanoTime - reading.nanoTime()));
        Columns columns = new Columns(usable);
        List<AttributedString> bottom = bottom(usable);
        List<AttributedString> above = titles.lines(columns, age, usable, isFilterTyped ? "" : filter.toString());
        int titleHeight = Math.max(0, Math.min(TitleLines.HEIGHT, height - bottom.size() - 1));
        listHeight = Math.max(0, height - titleHeight - bottom.size());
        List<AttributedString> lines = new ArrayList<>(above.subList(0, titleHeight));
        List<ListedResource> seen = selection.visible(Math.max(1, listHeight));
        for (int i = 0; i < listHeight; i++) {
            lines.add(i < seen.size() ? row(seen.get(i), age, columns) : AttributedString.EMPTY);
        }
        lines.addAll(bottom.subList(Math.max(0, bottom.size() - height), bottom.size()));
        return lines;
    }

    private AttributedString row(ListedResource listed, Duration age, Columns columns) {
        AttributedStyle style = Reading.waiters(listed) > 0 ? WAITED_FOR : PLAIN;
        return new AttributedString(columns.line(listed, age), selection.isChosen(listed) ? style.inverse() : style);
    }

    private List<AttributedString> bottom(int width) {
        if (dialog.isPresent()) {
            return dialog.get().lines(width);
        }
        if (isFilterTyped) {
            return List.of(filter.line("names that begin with: ", width));
        }
        return List.of(
                note.isPresent()
                        ? Columns.line(note.get(), width, PLAIN.bold())
                        : Columns.line(
                                "/ filter   b end a hold   q quit   arrows, PgUp, PgDn, Home, End choose",
                                width,
                                PLAIN.faint()));
    }
}

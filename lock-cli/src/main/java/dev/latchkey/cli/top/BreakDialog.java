package dev.latchkey.cli.top;

import dev.latchkey.console.Text;
import dev.latchkey.spi.ListedResource;
import java.util.List;
import java.util.Optional;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/** Asks for the fencing token of the hold that is to end. It is about one hold, whatever the list shows meanwhile. */
final class BreakDialog {

    private final ListedResource listed;
    private final long fencingToken;
    private final TypedText typed = new TypedText();

    private BreakDialog(ListedResource listed, long fencingToken) {
        this.listed = listed;
        this.fencingToken = fencingToken;
    }

    /** Returns empty if the hold has no fencing token. */
    static Optional<BreakDialog> of(ListedResource listed) {
        return Columns.token(listed).map(token -> new BreakDialog(listed, token));
    }

    void edit(Keystroke key) {
        typed.edit(key);
    }

    String name() {
        return Text.quoted(listed.resource());
    }

    /** Returns what was confirmed; empty if something else than the fencing token was typed. */
    Optional<Action.EndHold> confirmed() {
        return typed.toString().strip().equals(Long.toString(fencingToken))
                ? Optional.of(new Action.EndHold(listed.resource(), fencingToken))
                : Optional.empty();
    }

    List<AttributedString> lines(int width) {
        return List.of(
                Columns.line(
                        "End the hold of " + name() + " by " + Columns.owner(listed.holders()) + "?",
                        width,
                        AttributedStyle.BOLD),
                Columns.line(
                        "Its holder may go on with its work until it hears that the lock is lost.",
                        width,
                        AttributedStyle.DEFAULT),
                typed.line("Type its fencing token " + fencingToken + " (Esc: no): ", width));
    }
}

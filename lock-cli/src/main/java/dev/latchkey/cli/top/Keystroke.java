package dev.latchkey.cli.top;

/**
 * A key that was pressed.
 *
 * @param kind which
 * @param character what it types; 0 if it types nothing
 */
public record Keystroke(Kind kind, char character) {

    /** Keys that do something, beside those that type a character. */
    public enum Kind {
        /** Types a character. */
        CHARACTER,
        /** Enter. */
        ENTER,
        /** Esc. */
        ESCAPE,
        /** Deletes the character before it. */
        BACKSPACE,
        /** An arrow. */
        UP,
        /** An arrow. */
        DOWN,
        /** A page back. */
        PAGE_UP,
        /** A page on. */
        PAGE_DOWN,
        /** To the first. */
        HOME,
        /** To the last. */
        END,
        /** Control-L: the screen is to be drawn anew. */
        REDRAW,
        /** A key without a meaning here. */
        OTHER,
        /** There is no keyboard any more. */
        END_OF_INPUT
    }

    static Keystroke of(Kind kind) {
        return new Keystroke(kind, (char) 0);
    }
}

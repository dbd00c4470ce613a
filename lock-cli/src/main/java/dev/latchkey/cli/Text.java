package dev.latchkey.cli;

/** Makes text from outside fit for one line of a terminal. */
final class Text {

    private static final int LONGEST = 200;

    private Text() {}

    /** Returns the name in quotes, shortened where it is long. */
    static String quoted(String name) {
        return '"' + oneLine(name) + '"';
    }

    /** Shows control characters instead of sending them to a terminal, and shortens what is long. */
    static String oneLine(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().limit(LONGEST).forEach(codePoint -> {
            if (Character.isISOControl(codePoint)) {
                line.append(String.format("\\u%04x", codePoint));
            } else {
                line.appendCodePoint(codePoint);
            }
        });
        return text.codePointCount(0, text.length()) <= LONGEST
                ? line.toString()
                : line + "… (" + text.length() + " characters)";
    }
}

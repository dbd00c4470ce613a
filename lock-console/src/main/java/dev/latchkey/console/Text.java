package dev.latchkey.console;

import java.util.regex.Pattern;

/** Makes foreign text safe for one line of a terminal. */
public final class Text {

    private static final int LONGEST = 200;

    /** A secret with its name before it: a key, or a password in an address or its options. */
    private static final Pattern SECRET = Pattern.compile(
            "(\\blk1\\.)[^\\s'\"]+|([^\\s/@:]*:)[^\\s/@]+(?=@)|((?i:password|passwd|pwd)=)[^\\s&;'\"]+");

    private Text() {}

    /**
     * Shows a name within a message.
     *
     * @param name any text
     * @return the name in quotes, shortened if it is long
     */
    public static String quoted(String name) {
        return '"' + oneLine(name) + '"';
    }

    /**
     * Makes control characters visible, and shortens long text.
     *
     * @param text any text
     * @return one line
     */
    public static String oneLine(String text) {
        int length = text.codePointCount(0, text.length());
        return length <= LONGEST
                ? visible(text)
                : visible(text.substring(0, text.offsetByCodePoints(0, LONGEST))) + "… (" + text.length()
                        + " characters)";
    }

    /**
     * Makes one line of a message, which may contain foreign text, and hides keys and passwords.
     *
     * @param text any text
     * @return one line
     */
    public static String message(String text) {
        return visible(withoutSecrets(text));
    }

    /**
     * Hides keys and passwords in a stack trace.
     *
     * @param text any text
     * @return the text without them
     */
    public static String withoutSecrets(String text) {
        return SECRET.matcher(text).replaceAll(found -> {
            for (int group = 1; group <= found.groupCount(); group++) {
                if (found.group(group) != null) {
                    return found.group(group) + "…";
                }
            }
            return "…";
        });
    }

    /**
     * Makes control characters visible.
     *
     * @param text any text
     * @return one line
     */
    public static String visible(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().forEach(codePoint -> {
            if (isHidden(codePoint)) {
                line.append(String.format("\\u%04x", codePoint));
            } else {
                line.appendCodePoint(codePoint);
            }
        });
        return line.toString();
    }

    /**
     * Control characters, which a terminal obeys; those that a reader of logs may treat as the end of a line; and those that
     * change the order of what stands behind them, or are not seen at all.
     */
    static boolean isHidden(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> true;
            default -> false;
        };
    }
}

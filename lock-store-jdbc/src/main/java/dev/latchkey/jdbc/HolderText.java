package dev.latchkey.jdbc;

import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Who holds, as it stands in the column {@code holder}: the owner name, and after a bar the name of the resource if its key
 * in the table is a hash. Both are printable ASCII; everything else, and {@code %} and the bar, are bytes of UTF-8 as
 * {@code %41}. A name that is very long is cut, which three dots show. That of a sticky hold has a second bar in any case, after
 * which {@code ~} and the database's microseconds say when it was first recalled; 0 if it was not.
 */
final class HolderText {

    private static final int LONGEST_OWNER = 3 * Request.MAX_OWNER_BYTES;
    private static final int LONGEST_RESOURCE = 1_200;
    private static final char BAR = '|';
    private static final String CUT = "...";
    private static final String NOT_RECALLED = "~0";

    private HolderText() {}

    static String of(Request request) {
        String resource = request.key().resource();
        String owned = owned(request);
        boolean isName = ResourceName.of(resource).equals(resource);
        String shown = isName ? owned : owned + BAR + escaped(resource, LONGEST_RESOURCE);
        return request.isSticky() ? kept(shown) : shown;
    }

    /** The same text for a sticky hold. */
    static String kept(String text) {
        if (isKept(text)) {
            return text;
        }
        return (text.indexOf(BAR) < 0 ? text + BAR : text) + BAR + NOT_RECALLED;
    }

    static boolean isKept(String text) {
        return text.indexOf(BAR) != text.lastIndexOf(BAR);
    }

    /** By the database's clock; zero if it was not recalled. */
    static long recalledAt(String text) {
        return Long.parseLong(text, text.lastIndexOf(BAR) + 2, text.length(), 10);
    }

    static boolean isToBeRecalled(String text) {
        return isKept(text) && recalledAt(text) == 0;
    }

    /** The same text with when it was first recalled, if it is that of a sticky hold. */
    static String recalled(String text, long at) {
        return isToBeRecalled(text) ? text.substring(0, text.length() - 1) + at : text;
    }

    /** The owner name alone. */
    static String owned(Request request) {
        String owner = request.owner().isEmpty() ? LocalProcess.description() : request.owner();
        return escaped(owner, LONGEST_OWNER);
    }

    static String owner(String text) {
        int bar = text.indexOf(BAR);
        return plain(bar < 0 ? text : text.substring(0, bar));
    }

    /** The name of the resource; empty if the key in the table is the name. */
    static Optional<String> resource(String text) {
        int bar = text.indexOf(BAR);
        int end = isKept(text) ? text.lastIndexOf(BAR) : text.length();
        return bar < 0 || bar + 1 >= end ? Optional.empty() : Optional.of(plain(text.substring(bar + 1, end)));
    }

    private static String escaped(String text, int longest) {
        if (text.length() <= longest && text.chars().allMatch(HolderText::isPlain)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder();
        int i = 0;
        while (i < text.length()) {
            int point = text.codePointAt(i);
            String one = isPlain(point) ? String.valueOf((char) point) : bytes(point);
            if (escaped.length() + one.length() > longest - CUT.length()
                    && i + Character.charCount(point) < text.length()) {
                return escaped.append(CUT).toString();
            }
            escaped.append(one);
            i += Character.charCount(point);
        }
        return escaped.toString();
    }

    private static boolean isPlain(int c) {
        return c > ' ' && c <= '~' && c != '%' && c != BAR;
    }

    private static String bytes(int point) {
        StringBuilder bytes = new StringBuilder();
        for (byte one : new String(Character.toChars(point)).getBytes(StandardCharsets.UTF_8)) {
            bytes.append(String.format("%%%02X", one));
        }
        return bytes.toString();
    }

    private static String plain(String escaped) {
        if (escaped.indexOf('%') < 0) {
            return escaped;
        }
        byte[] bytes = new byte[escaped.length()];
        int length = 0;
        for (int i = 0; i < escaped.length(); i++) {
            char c = escaped.charAt(i);
            boolean isByte = c == '%' && i + 2 < escaped.length();
            bytes[length++] = (byte) (isByte ? Integer.parseInt(escaped, i + 1, i + 3, 16) : c);
            i += isByte ? 2 : 0;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}

package dev.latchkey.memcached;

import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * What the item of a resource is called: the prefix and the resource, or what can be read of it, {@code #}, and its
 * SHA-256 where it is long or has characters that Memcached does not take. No two resources share a name, and none has
 * the {@code ~} that begins the rest of a {@link MarkerItem}'s name.
 */
record ItemName(String text) {

    /** 60 of prefix, 120 of resource and 24 of a sign stay below the 250 that Memcached takes. */
    private static final int LONGEST = 120;

    private static final int READABLE = 48;
    private static final Pattern PREFIX = Pattern.compile("[!-}&&[^#]]{0,60}");
    private static final Pattern PLAIN = Pattern.compile("[!-}&&[^#]]{1," + LONGEST + "}");
    private static final Pattern NOT_PLAIN = Pattern.compile("[^!-}]+|#+");

    static ItemName of(String prefix, String resource) {
        if (PLAIN.matcher(resource).matches()) {
            return new ItemName(prefix + resource);
        }
        String readable = NOT_PLAIN
                .matcher(resource.substring(0, Math.min(READABLE, resource.length())))
                .replaceAll("_");
        return new ItemName(prefix + readable + "#" + HexFormat.of().formatHex(Hash.of(resource)));
    }

    static String checkPrefix(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "the key prefix must be up to 60 visible ASCII characters without # and ~: \"" + prefix + "\"");
        }
        return prefix;
    }

    String of(MarkerItem sign) {
        return text + "~" + sign.kind().letter() + sign.owner().id();
    }
}

package dev.latchkey.mongodb;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The {@code _id} of a resource: its name; or, if the name is long or looks like a shortened one, its beginning, {@code #}
 * and its SHA-256. Servers before 4.2 accept no index entry of more than a kilobyte.
 */
final class ResourceName {

    private static final int LONGEST_BYTES = 512;
    private static final int PREFIX = 64;
    private static final Pattern HASHED = Pattern.compile("(?s).*#[0-9a-f]{64}");

    private ResourceName() {}

    static String of(String resource) {
        byte[] utf8 = resource.getBytes(StandardCharsets.UTF_8);
        if (utf8.length <= LONGEST_BYTES && !HASHED.matcher(resource).matches()) {
            return resource;
        }
        return beginning(resource) + "#" + HexFormat.of().formatHex(sha256(utf8));
    }

    private static String beginning(String resource) {
        int end = Math.min(PREFIX, resource.length());
        boolean splitsAPair = end < resource.length() && Character.isHighSurrogate(resource.charAt(end - 1));
        return resource.substring(0, splitsAPair ? end - 1 : end);
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

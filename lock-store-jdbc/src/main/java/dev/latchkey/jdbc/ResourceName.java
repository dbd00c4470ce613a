package dev.latchkey.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * What stands in the database for a resource: the name itself where every database keeps it apart from all others, else
 * what can be read of it, {@code #}, and its SHA-256. No collation, padding, length limit or normal form can make two of
 * them equal.
 */
final class ResourceName {

    private static final int LONGEST = 120;
    private static final int PREFIX = 48;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_.:/-]{1," + LONGEST + "}");
    private static final Pattern NOT_PLAIN = Pattern.compile("[^A-Za-z0-9_.:/-]+");

    private ResourceName() {}

    static String of(String resource) {
        if (PLAIN.matcher(resource).matches()) {
            return resource;
        }
        String readable = NOT_PLAIN
                .matcher(resource.substring(0, Math.min(PREFIX, resource.length())))
                .replaceAll("_");
        return readable + "#" + sha256(resource);
    }

    private static String sha256(String resource) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(resource.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

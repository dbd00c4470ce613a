package dev.latchkey.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What stands in the database for a resource: the name itself where every database keeps it apart from all others, else
 * what can be read of it, {@code #}, and its SHA-256. No collation, padding, length limit or normal form can make two of
 * them equal: also not that of a table that the application has created. A name with capitals is therefore hashed.
 */
final class ResourceName {

    private static final int LONGEST = 120;
    private static final int PREFIX = 48;
    private static final Pattern NOT_PLAIN = Pattern.compile("[^A-Za-z0-9_.:/-]+");

    /** What was made last of names that have to be hashed, which costs a tenth of a cycle; each slot is overwritten. */
    private static final AtomicReferenceArray<@Nullable ResourceName> MADE = new AtomicReferenceArray<>(256);

    private final String resource;
    private final String name;

    private ResourceName(String resource, String name) {
        this.resource = resource;
        this.name = name;
    }

    static String of(String resource) {
        return isPlain(resource) ? resource : hashed(resource);
    }

    private static boolean isPlain(String resource) {
        if (resource.isEmpty() || resource.length() > LONGEST) {
            return false;
        }
        for (int i = 0; i < resource.length(); i++) {
            if (!isPlain(resource.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** From {@code -} to {@code :} are also the digits, {@code .} and {@code /}. */
    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '-' && c <= ':') || c == '_';
    }

    private static String hashed(String resource) {
        int slot = Math.floorMod(resource.hashCode(), MADE.length());
        ResourceName last = MADE.get(slot);
        if (last != null && last.resource.equals(resource)) {
            return last.name;
        }
        String readable = NOT_PLAIN
                .matcher(resource.substring(0, Math.min(PREFIX, resource.length())))
                .replaceAll("_");
        ResourceName made = new ResourceName(resource, readable + "#" + sha256(resource));
        if (resource.length() <= LONGEST) {
            MADE.set(slot, made);
        }
        return made.name;
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

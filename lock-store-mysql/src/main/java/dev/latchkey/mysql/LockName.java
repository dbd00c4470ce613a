package dev.latchkey.mysql;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * What the server knows a resource by. It compares names without regard to case, and MySQL has none beyond 64 characters. A
 * resource that is such a name under every collation keeps it; any other is hashed.
 *
 * @param value at most 64 characters, all of them ASCII
 */
record LockName(String value) {

    /** No resource that begins with it keeps its name, so a hash is nobody's name. */
    private static final String HASHED = "sha256:";

    private static final int HASH_DIGITS = 56;
    private static final Pattern PLAIN = Pattern.compile("[a-z0-9._:/@#-]{1,64}");

    static LockName of(String resource) {
        boolean isPlain = PLAIN.matcher(resource).matches() && !resource.startsWith(HASHED);
        return new LockName(isPlain ? resource : HASHED + hash(resource).substring(0, HASH_DIGITS));
    }

    private static String hash(String resource) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(sha256.digest(resource.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}

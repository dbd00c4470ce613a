package dev.latchkey.dynamodb;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The keys of items. A partition key has at most 2048 bytes, and a resource up to 16 384. */
final class ItemKey {

    /** The name of the partition key. */
    static final String ATTRIBUTE = "resource";

    /** The item of the table's last fencing token. No resource has this key. */
    static final String TOKENS = "tokens";

    private static final String LOCK = "lock:";
    private static final String LONG_NAME = "long:";
    private static final int LONGEST_BYTES = 1024;
    private static final int SHOWN = 64;

    private ItemKey() {}

    /** The text of the key of a resource: its name, or the beginning of a long one and its SHA-256. */
    static String of(String resource) {
        byte[] utf8 = resource.getBytes(StandardCharsets.UTF_8);
        return utf8.length <= LONGEST_BYTES
                ? LOCK + resource
                : LONG_NAME + HexFormat.of().formatHex(sha256(utf8)) + ":" + beginning(resource);
    }

    /** Whether the key of a resource has its name, and not only the beginning of it. */
    static boolean hasWholeName(String resource) {
        return resource.getBytes(StandardCharsets.UTF_8).length <= LONGEST_BYTES;
    }

    /** What the keys of resources with whole names begin with whose names begin with a prefix. */
    static String startingWith(String prefix) {
        return LOCK + prefix;
    }

    /** The name that a key has; empty if that is not all of it. */
    static Optional<String> nameIn(String key) {
        return key.startsWith(LOCK) ? Optional.of(key.substring(LOCK.length())) : Optional.empty();
    }

    /** The key as requests have it. */
    static Map<String, AttributeValue> attributes(String key) {
        return Map.of(ATTRIBUTE, AttributeValue.fromS(key));
    }

    private static String beginning(String resource) {
        boolean splitsAPair = Character.isHighSurrogate(resource.charAt(SHOWN - 1));
        return resource.substring(0, splitsAPair ? SHOWN - 1 : SHOWN);
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

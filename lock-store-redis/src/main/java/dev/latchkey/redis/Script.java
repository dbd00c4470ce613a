package dev.latchkey.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** One operation on the server: the prelude and a file of its own, as they stand in the resources. */
final class Script {

    static final Script ACQUIRE = new Script("acquire");
    static final Script RELEASE = new Script("release");
    static final Script REFRESH = new Script("refresh");
    static final Script CANCEL = new Script("cancel");
    static final Script FIND = new Script("find");
    static final Script HOLDERS = new Script("holders");
    static final Script SAVE_ALL = new Script("save-all");
    static final Script RELEASE_ALL = new Script("release-all");
    static final Script RAISE = new Script("raise");
    static final Script INDEXES = new Script("indexes");

    private final byte[] source;
    private final byte[] digest;

    private Script(String name) {
        source = (load("prelude") + load(name)).getBytes(StandardCharsets.UTF_8);
        digest = HexFormat.of().formatHex(sha1(source)).getBytes(StandardCharsets.US_ASCII);
    }

    byte[] source() {
        return source;
    }

    /** What EVALSHA names it by. */
    byte[] digest() {
        return digest;
    }

    /**
     * Whether it comes to the same when it is run twice, as may be after a lost reply. A release would answer the second time
     * that the lock was not ours.
     */
    boolean isRepeatable() {
        return this != RELEASE && this != RELEASE_ALL;
    }

    private static String load(String name) {
        String file = name + ".lua";
        try (InputStream in = Script.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("the jar of lock-store-redis is incomplete: " + file + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] sha1(byte[] text) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(text);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}

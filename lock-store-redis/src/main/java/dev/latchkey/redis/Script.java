package dev.latchkey.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One operation on the server: files of the resources, one after the other. */
final class Script {

    static final Script ACQUIRE = new Script("clock", "acquire_free", "prelude", "acquire");
    static final Script RELEASE = new Script("clock", "release_alone", "prelude", "release").once();
    static final Script REFRESH = new Script("clock", "prelude", "refresh");
    static final Script RAISE_FENCE = new Script("clock", "prelude", "raise_fence");
    static final Script CANCEL = new Script("clock", "prelude", "cancel");
    static final Script FIND = new Script("clock", "prelude", "find");
    static final Script HOLDERS = new Script("clock", "prelude", "holders");
    static final Script SAVE_ALL = new Script("clock", "prelude", "save_all");
    static final Script RELEASE_ALL = new Script("clock", "prelude", "release_all").once();
    static final Script RAISE_INDEXES = new Script("clock", "prelude", "raise_indexes");
    static final Script INDEXES = new Script("indexes");

    private final byte[] source;
    private final byte[] digest;

    /** The same, not to be repeated; itself, if it is that. */
    private final Script once;

    private Script(String... files) {
        source =
                Stream.of(files).map(Script::load).collect(Collectors.joining()).getBytes(StandardCharsets.UTF_8);
        digest = HexFormat.of().formatHex(sha1(source)).getBytes(StandardCharsets.US_ASCII);
        once = new Script(source, digest);
    }

    private Script(byte[] source, byte[] digest) {
        this.source = source;
        this.digest = digest;
        this.once = this;
    }

    /** The same for a request that must not be repeated. */
    Script once() {
        return once;
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
     * that the lock was not ours; and what sets a lease would cut short what has been extended meanwhile, if the first copy of it
     * is still under way.
     */
    boolean isRepeatable() {
        return once != this;
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

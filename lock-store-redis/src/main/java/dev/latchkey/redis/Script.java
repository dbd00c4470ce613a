package dev.latchkey.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One operation on the server: one Lua script, made of files of the resources in this order. A file says in its comments which
 * names it takes from the files before it ({@code --@ takes}) and which it gives to those behind it ({@code --@ gives});
 * everything else is its own. Each whole script can be run with {@code redis-cli --eval}: a build writes them to
 * {@code target/scripts}.
 */
final class Script {

    static final Script ACQUIRE =
            new Script("clock", "acquire_free", "acquire_shared", "state", "messages", "queue", "acquire");
    static final Script RELEASE = new Script(
                    "clock",
                    "release_alone",
                    "release_along",
                    "release_shared",
                    "state",
                    "messages",
                    "queue",
                    "release")
            .once();
    static final Script REFRESH = new Script("clock", "refresh_shared", "state", "messages", "queue", "refresh");
    static final Script RAISE_FENCE = new Script("clock", "state", "raise_fence");
    static final Script CANCEL = new Script("clock", "state", "messages", "queue", "cancel");
    static final Script FIND = new Script("clock", "state", "find");
    static final Script INSPECT = new Script("clock", "state", "messages", "queue", "inspect");
    static final Script FORCE_RELEASE = new Script("clock", "state", "messages", "queue", "force_release").once();
    static final Script WHO = new Script("who");
    static final Script SAVE_ALL = new Script("clock", "state", "messages", "queue", "save_all");
    static final Script RELEASE_ALL = new Script("clock", "state", "messages", "queue", "release_all").once();
    static final Script RAISE_INDEXES = new Script("clock", "state", "raise_indexes");
    static final Script INDEXES = new Script("indexes");

    static final Script PERMIT_ACQUIRE =
            new Script("clock", "permit_free", "permits", "messages", "permit_queue", "permit_acquire");
    static final Script PERMIT_RELEASE =
            new Script("permit_release_alone", "clock", "permits", "messages", "permit_queue", "permit_release").once();
    static final Script PERMIT_REFRESH =
            new Script("clock", "permit_extend", "permits", "messages", "permit_queue", "permit_refresh");
    static final Script PERMIT_CANCEL = new Script("clock", "permits", "messages", "permit_queue", "permit_cancel");
    static final Script PERMIT_FIND = new Script("clock", "permits", "permit_find");
    static final Script PERMIT_INSPECT = new Script("clock", "permits", "permit_inspect");

    private final List<String> files;
    private final byte[] source;
    private final byte[] digest;

    /** The same script, not repeatable. */
    private final Script once;

    private Script(String... files) {
        this.files = List.of(files);
        source = this.files.stream()
                .map(Script::load)
                .collect(Collectors.joining("\n"))
                .getBytes(StandardCharsets.UTF_8);
        digest = HexFormat.of().formatHex(sha1(source)).getBytes(StandardCharsets.US_ASCII);
        once = new Script(this);
    }

    private Script(Script repeatable) {
        files = repeatable.files;
        source = repeatable.source;
        digest = repeatable.digest;
        once = this;
    }

    /** Returns the same script for a request that must not be sent twice. */
    Script once() {
        return once;
    }

    /** Returns the files it is made of. */
    List<String> files() {
        return files;
    }

    /** Returns the whole script. */
    byte[] source() {
        return source;
    }

    /** Returns what EVALSHA names it by. */
    byte[] digest() {
        return digest;
    }

    /**
     * Whether it may be run twice, as after a lost reply. A second release would answer that the lock was not ours. A late copy of
     * a request that sets the lease would end what was extended since.
     */
    boolean isRepeatable() {
        return once != this;
    }

    static String load(String name) {
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

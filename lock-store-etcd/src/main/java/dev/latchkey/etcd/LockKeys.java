package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * The keys of one resource, as one owner of it sees them. All are below {@link #all()}:
 *
 * <pre>
 * w/OWNER     the exclusive hold; its create revision is the fencing token
 * r/OWNER     a shared hold
 * q/w/OWNER   a waiter that wants to write; its create revision is its place in the line
 * q/r/OWNER   a waiter that wants to read
 * p/OWNER     a reader that waits for its promotion
 * </pre>
 *
 * @param base what all of them begin with
 * @param owner a hash of the token: etcd logs the names of the keys of slow requests
 */
record LockKeys(String base, String owner) {

    private static final String PROMOTERS = "p/";
    private static final String HEX = "0123456789ABCDEF";

    static LockKeys of(String root, Key key) {
        return new LockKeys(base(root, key.resource()), hash(key.token()));
    }

    static String base(String root, String resource) {
        return root + '/' + escaped(resource) + '/';
    }

    /** No name is the beginning of another one's keys. */
    private static String escaped(String resource) {
        StringBuilder name = new StringBuilder(resource.length());
        for (int i = 0; i < resource.length(); i++) {
            char c = resource.charAt(i);
            if (c == '/' || c == '%' || c < ' ') {
                name.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }

    /** All keys of resources that start with a text, which come after those of one of them. */
    static KeyRange startingWith(String root, String prefix, Optional<String> after) {
        String start = root + '/' + escaped(prefix);
        ByteString from = ByteString.copyFromUtf8(start);
        byte[] end = from.toByteArray();
        // No byte of UTF-8 is the greatest one.
        end[end.length - 1]++;
        return new KeyRange(
                after.map(resource -> KeyRange.below(base(root, resource)).to()).orElse(from),
                ByteString.copyFrom(end));
    }

    /** The first part of a key, up to the name of the resource. */
    static String baseOf(String root, ByteString key) {
        String text = key.toStringUtf8();
        int end = text.indexOf('/', root.length() + 1);
        return end < 0 ? text : text.substring(0, end + 1);
    }

    static String resourceOf(String root, ByteString key) {
        String base = baseOf(root, key);
        StringBuilder name = new StringBuilder(base.length());
        for (int i = root.length() + 1; i < base.length() && base.charAt(i) != '/'; i++) {
            char c = base.charAt(i);
            if (c == '%' && i + 2 < base.length()) {
                name.append((char) Integer.parseInt(base, i + 1, i + 3, 16));
                i += 2;
            } else {
                name.append(c);
            }
        }
        return name.toString();
    }

    /** The mode of a hold; empty for the key of a waiter. */
    static Optional<LockMode> modeOf(String root, ByteString key) {
        String rest = key.toStringUtf8().substring(baseOf(root, key).length());
        if (rest.startsWith("w/")) {
            return Optional.of(LockMode.EXCLUSIVE);
        }
        return rest.startsWith("r/") ? Optional.of(LockMode.SHARED) : Optional.empty();
    }

    /** The mode that a waiter waits for; empty for the key of a hold. */
    static Optional<LockMode> waitingModeOf(String root, ByteString key) {
        String rest = key.toStringUtf8().substring(baseOf(root, key).length());
        if (rest.startsWith("q/w/") || rest.startsWith(PROMOTERS)) {
            return Optional.of(LockMode.EXCLUSIVE);
        }
        return rest.startsWith("q/r/") ? Optional.of(LockMode.SHARED) : Optional.empty();
    }

    /** Whether it is the key of a reader that waits for its promotion. */
    static boolean isPromoter(String root, ByteString key) {
        return key.toStringUtf8().substring(baseOf(root, key).length()).startsWith(PROMOTERS);
    }

    private static String hash(String token) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(sha256, 16));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    KeyRange all() {
        return KeyRange.below(base);
    }

    KeyRange writers() {
        return KeyRange.below(base + "w/");
    }

    KeyRange readers() {
        return KeyRange.below(base + "r/");
    }

    KeyRange promoters() {
        return KeyRange.below(base + "p/");
    }

    KeyRange queue() {
        return KeyRange.below(base + "q/");
    }

    KeyRange waitingWriters() {
        return KeyRange.below(base + "q/w/");
    }

    ByteString hold(LockMode mode) {
        return ByteString.copyFromUtf8(base + (mode == LockMode.EXCLUSIVE ? "w/" : "r/") + owner);
    }

    ByteString waiter(LockMode mode) {
        return ByteString.copyFromUtf8(base + (mode == LockMode.EXCLUSIVE ? "q/w/" : "q/r/") + owner);
    }

    ByteString promoter() {
        return ByteString.copyFromUtf8(base + "p/" + owner);
    }

    /** Without the owner. */
    @Override
    public String toString() {
        return "LockKeys[" + base + "]";
    }
}

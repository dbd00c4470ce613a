package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

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

package dev.latchkey.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What the server knows a resource by: 64 bits each of one SHA-256. Two resources with the same number exclude each other
 * without need, and nothing worse: who holds is decided by the whole resource.
 *
 * @param hold the advisory lock that is the hold
 * @param promotion the advisory lock of the one who waits to promote
 */
record LockId(long hold, long promotion) {

    private static final int LONGEST_REMEMBERED = 200;

    /** What was made last: a hash takes a twentieth of a cycle. Each slot is overwritten by the next name that falls to it. */
    private static final AtomicReferenceArray<@Nullable Made> MADE = new AtomicReferenceArray<>(256);

    private record Made(String resource, LockId id) {}

    static LockId of(String resource) {
        int slot = Math.floorMod(resource.hashCode(), MADE.length());
        Made last = MADE.get(slot);
        if (last != null && last.resource.equals(resource)) {
            return last.id;
        }
        LockId id = hashed(resource);
        if (resource.length() <= LONGEST_REMEMBERED) {
            MADE.set(slot, new Made(resource, id));
        }
        return id;
    }

    private static LockId hashed(String resource) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(resource.getBytes(StandardCharsets.UTF_8));
            ByteBuffer numbers = ByteBuffer.wrap(hash);
            return new LockId(numbers.getLong(), numbers.getLong());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}

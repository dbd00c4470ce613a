package dev.latchkey.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What the server knows a resource by: 64 bits each of one SHA-256. Two resources with the same number exclude each other
 * without need, and nothing worse: who holds is decided by the whole resource.
 *
 * @param hold the advisory lock that is the hold
 * @param promotion the advisory lock of the one who waits to promote
 */
record LockId(long hold, long promotion) {

    static LockId of(String resource) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(resource.getBytes(StandardCharsets.UTF_8));
            ByteBuffer numbers = ByteBuffer.wrap(hash);
            return new LockId(numbers.getLong(), numbers.getLong());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}

package dev.latchkey.jdbc;

import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.Permits;
import java.time.Duration;
import java.util.Optional;

/**
 * What somebody holds of a semaphore: a shared hold of its row, whose holder stands there as
 * {@code <permits>/<N>/<granted at>/<owner>}.
 *
 * @param limit how many permits there are, as the holder knows it
 * @param grantedAt microseconds since 1970 by the database's clock
 */
record PermitHold(String token, long expiresAt, int count, int limit, long grantedAt, String owner) {

    private static final String SUFFIX = "#permits";
    private static final int PARTS = 4;

    /** Returns the key of a semaphore's row. No lock has it: a name in which there is this sign ends with a hash. */
    static String rowName(String semaphore) {
        return ResourceName.of(semaphore) + SUFFIX;
    }

    /** Whether a row is that of a semaphore. */
    static boolean isRowName(String key) {
        return key.endsWith(SUFFIX);
    }

    static PermitHold of(SharedHold hold) {
        String[] parts = hold.holder().split("/", PARTS);
        return new PermitHold(
                hold.token(),
                hold.expiresAt(),
                Integer.parseInt(parts[0]),
                Integer.parseInt(parts[1]),
                Long.parseLong(parts[2]),
                parts[3]);
    }

    static PermitHold granted(String token, long expiresAt, Permits permits, long now, String owner) {
        return new PermitHold(token, expiresAt, permits.count(), permits.limit(), now, owner);
    }

    PermitHold until(long end) {
        return new PermitHold(token, end, count, limit, grantedAt, owner);
    }

    SharedHold shared() {
        return new SharedHold(token, expiresAt, String.join("/", "" + count, "" + limit, "" + grantedAt, owner));
    }

    PermitHolder shown(long now) {
        Duration remaining = Rules.micros(expiresAt - now);
        Duration held = Rules.micros(Math.max(0, now - grantedAt));
        return new PermitHolder(count, limit, remaining, held, Optional.of(HolderText.owner(owner)));
    }
}

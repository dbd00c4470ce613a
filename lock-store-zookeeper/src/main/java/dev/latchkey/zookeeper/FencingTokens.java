package dev.latchkey.zookeeper;

import java.util.OptionalLong;

/**
 * Fencing tokens, by the transactions that grant holds. Each transaction has a range of them: the first is that of the hold, and
 * the others are those of its later uses, if it is sticky. So whoever comes later has a greater token, also if nobody has heard
 * how many were used.
 */
final class FencingTokens {

    /** How many a hold may use after its first. */
    static final long RESERVED = 4_095;

    private static final int BITS = 12;

    /** The number of a transaction is that of the leader's election and, in its lower half, a counter. */
    private static final long LAST_ELECTION = (1L << (Long.SIZE - 1 - BITS - Integer.SIZE)) - 2;

    private FencingTokens() {}

    /** Returns the token of a hold that a transaction has granted. */
    static long first(long zxid) {
        return zxid << BITS;
    }

    /** Returns whether a hold that a transaction has granted may be used under a token. */
    static boolean isOf(long zxid, OptionalLong token) {
        return token.isPresent() && token.getAsLong() >> BITS == zxid;
    }

    /**
     * Checks that there are tokens for a transaction.
     *
     * @throws dev.latchkey.LockStorageException if its number is too great
     */
    static void check(String resource, long zxid) {
        if (zxid >> Integer.SIZE > LAST_ELECTION) {
            throw Failures.tokensUsedUp(resource);
        }
    }
}

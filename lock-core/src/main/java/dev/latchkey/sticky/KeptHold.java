package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One hold of the store, from its grant to its release, under which Locks of this process hold one after the other; guarded by
 * the line of its resource. Its key is its own: no Lock has it, unless it is given away.
 */
final class KeptHold {

    /** How long those who wait here go on after a recall. */
    private static final long LAST_TURN_NANOS = Duration.ofMillis(5).toNanos();

    private final Key key;
    private final long grantedAt;
    private LockMode mode;
    private Lease lease;
    private @Nullable TokenRange tokens;
    private boolean isKept;
    private boolean isRecalled;
    private long recalledAt;

    KeptHold(Key key, Response.Granted granted, Request request, long now) {
        this.key = key;
        this.grantedAt = now;
        this.mode = granted.mode();
        this.lease = granted.lease();
        this.isKept = request.isSticky();
        renew(granted, request, now);
    }

    /** Takes over what the store has answered. */
    void renew(Response.Granted granted, Request request, long now) {
        lease = granted.lease();
        mode = granted.mode();
        isKept &= request.isSticky();
        OptionalLong token = granted.fencingToken();
        if (token.isEmpty()) {
            tokens = null;
        } else if (tokens == null) {
            tokens = new TokenRange(token.getAsLong(), request.reservedTokens(), now);
        } else {
            tokens.renew(token.getAsLong(), request.reservedTokens(), now);
        }
    }

    /** The key as the store is asked about it: with the token that was used last. */
    Key claim() {
        OptionalLong token = tokens == null ? OptionalLong.empty() : OptionalLong.of(tokens.last());
        return key.claiming(Optional.of(new Key.Held(mode, token)));
    }

    /** The key with what a Lock claims, which knows it under its own. */
    Key claiming(Key local) {
        return key.claiming(local.held());
    }

    LockMode mode() {
        return mode;
    }

    Lease lease() {
        return lease;
    }

    long grantedAt() {
        return grantedAt;
    }

    /** Until when it can be relied on. */
    long endNanos() {
        return lease.since().isPresent() ? Lease.reliableUntil(lease.since().getAsLong(), lease.ttl()) : Long.MAX_VALUE;
    }

    boolean isOver(long now) {
        return !lease.isLive().getAsBoolean() || (lease.since().isPresent() && endNanos() - now <= 0);
    }

    /** Whether a hold of a Lock may begin without a request: it has its full TTL, and a token. */
    boolean suffices(Request request, long now) {
        boolean lasts = lease.since().isEmpty() || endNanos() - Lease.reliableUntil(now, request.ttl()) >= 0;
        return lasts && (tokens == null || !tokens.isUsedUp());
    }

    /** The token of the next hold of a Lock; waits for the clock, for a microsecond at most. */
    OptionalLong nextToken() {
        if (tokens == null) {
            return OptionalLong.empty();
        }
        while (tokens.nanosToNext(System.nanoTime()) > 0) {
            Thread.onSpinWait();
        }
        return OptionalLong.of(tokens.next());
    }

    /** Somebody else has its key from now on, or is to have the resource: it is used by nobody else here. */
    void keepNoMore() {
        isKept = false;
    }

    boolean isKept() {
        return isKept;
    }

    boolean isRecalled() {
        return isRecalled;
    }

    void recall(long now) {
        isRecalled = true;
        recalledAt = now;
    }

    /** Whether those who wait here may go on with it. */
    boolean mayPassOn(long now) {
        return isKept && !isOver(now) && (!isRecalled || now - recalledAt < LAST_TURN_NANOS);
    }
}

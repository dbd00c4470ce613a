package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One hold of the store, from its grant to its release, under which Locks of this process hold one after the other; guarded by
 * the line of its resource. Its key is its own: no Lock has it, unless it is handed out.
 */
final class KeptHold {

    /** How long those who wait here go on after a recall. */
    private static final long LAST_TURN_NANOS = 5_000_000;

    /** Longer than any process runs, and short enough to be added. */
    private static final long ENDLESS_NANOS = Long.MAX_VALUE / 4;

    /** A recall costs about as much as one more request and release: what spared more than that has paid. */
    private static final int PAYS_FROM = 3;

    private final Key key;
    private final ToLongFunction<Request> reservedTokens;
    private final long grantedAt;
    private long answeredAt;
    private LockMode mode;
    private Lease lease;
    private @Nullable TokenRange tokens;
    private int reuses;
    private boolean isRecalled;
    private long recalledAt;
    private boolean isHandedOut;

    /** How much longer it may last than is known here, by requests that were not answered: each may come late. */
    private long doubtNanos;

    /** How many requests about it are under way that may have extended it by now. */
    private int underWay;

    /** @param reservedTokens how many fencing tokens the store reserves with a request */
    KeptHold(Request asked, Response.Granted granted, ToLongFunction<Request> reservedTokens) {
        this.key = asked.key();
        this.reservedTokens = reservedTokens;
        this.grantedAt = System.nanoTime();
        this.answeredAt = grantedAt;
        this.mode = granted.mode();
        this.lease = granted.lease();
        renew(asked, granted, grantedAt);
    }

    /** The request of a Lock as the store is asked: under another key, and for as long as the hold is to be kept. */
    static Request asked(Request request, Key key, boolean isSticky) {
        return new Request(
                key,
                request.mode(),
                isSticky ? request.ttl().plus(request.sticky()) : request.ttl(),
                request.retryIntent(),
                request.leaseChange(),
                request.owner(),
                isSticky ? request.sticky() : Duration.ZERO);
    }

    /** Takes over what the store has answered. Answers may come in another order than the store gave them. */
    void renew(Request asked, Response.Granted granted, long now) {
        long reserved = reservedTokens.applyAsLong(asked);
        boolean isNewest =
                !isTimed() || asked.leaseChange() == LeaseChange.SET || endNanos(granted.lease()) - endNanos(lease) > 0;
        lease = isNewest ? granted.lease() : lease;
        answeredAt = isNewest ? now : answeredAt;
        mode = granted.mode();
        if (mode == LockMode.SHARED || granted.fencingToken().isEmpty()) {
            tokens = null;
        } else if (tokens == null) {
            tokens = new TokenRange(granted.fencingToken().getAsLong(), reserved, now);
        } else if (isTimed()) {
            tokens.renew(granted.fencingToken().getAsLong(), reserved, now);
        }
    }

    /** The key as the store is asked about it: with the token that was used last. */
    Key claim() {
        return key.claiming(Optional.of(new Key.Held(mode, lastToken())));
    }

    /** The token that was used last; empty for a shared hold. */
    OptionalLong lastToken() {
        return tokens == null ? OptionalLong.empty() : OptionalLong.of(tokens.last());
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

    /** Whether it ends by time, and can be renewed; if not, it lasts as long as a session. */
    boolean isTimed() {
        return lease.since().isPresent();
    }

    /** Since when its lease counts; a moment ago if it has no time. */
    long sinceNanos() {
        return lease.since().orElse(grantedAt);
    }

    long grantedAt() {
        return grantedAt;
    }

    private static long endNanos(Lease lease) {
        return Lease.reliableUntil(lease.since().orElseThrow(), lease.ttl());
    }

    boolean isOver(long now) {
        return (isTimed() && endNanos(lease) - now <= 0) || !lease.isLive().getAsBoolean();
    }

    /** Whether the store has ended it by now, which keeps it a little longer than it is relied on here. */
    boolean isGone(long now) {
        long nanos = lease.ttl().toNanos() + doubtNanos;
        return isTimed()
                ? underWay == 0 && answeredAt + nanos + nanos / 100 - now <= 0
                : !lease.isLive().getAsBoolean();
    }

    /** Whether a hold of a Lock may begin without a request: it has its full TTL, and a token. */
    boolean suffices(Request local, long now) {
        boolean lasts = !isTimed() || endNanos(lease) - Lease.reliableUntil(now, local.ttl()) >= 0;
        return lasts && (tokens == null || !tokens.isUsedUp());
    }

    /** When a Lock's hold ends whose lease begins with that of the store's hold. */
    long endFor(Request local) {
        return endFor(local, lease);
    }

    /** When a Lock's hold ends whose lease begins with what the store has answered. */
    static long endFor(Request local, Lease answered) {
        return answered.since().isEmpty()
                ? System.nanoTime() + ENDLESS_NANOS
                : answered.since().getAsLong()
                        + Math.min(local.ttl().toNanos(), answered.ttl().toNanos());
    }

    /** When a Lock's hold ends that begins now, for its whole TTL if it has one. */
    long endFrom(long now, Request local) {
        return now + (isTimed() ? local.ttl().toNanos() : ENDLESS_NANOS);
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

    /** A Lock begins to hold under it without a request for a hold of its own. */
    void reuse() {
        reuses = Math.min(reuses + 1, PAYS_FROM);
    }

    /** Whether it has spared more requests than its recall costs. */
    boolean hasPaid() {
        return reuses >= PAYS_FROM;
    }

    boolean isRecalled() {
        return isRecalled;
    }

    /** Until a request about it is over, nobody knows when it ends. */
    void beginRequest() {
        underWay++;
    }

    void endRequest() {
        underWay--;
    }

    /** A request about it was not answered, and may take effect as long as the store has it. */
    void notAnswered(Request asked) {
        doubtNanos = Math.min(doubtNanos + asked.ttl().toNanos(), ENDLESS_NANOS);
    }

    void recall(long now) {
        recalledAt = isRecalled ? recalledAt : now;
        isRecalled = true;
    }

    /** Whether those who wait here may go on with it. */
    boolean mayPassOn(long now) {
        return !isOver(now) && (!isRecalled || now - recalledAt < LAST_TURN_NANOS);
    }

    /** Others may hold with its key as well. */
    void handOut() {
        isHandedOut = true;
    }

    boolean isHandedOut() {
        return isHandedOut;
    }
}

package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The hold of one Lock of this process under a hold of the store; guarded by the line of its resource. */
final class LocalHold {

    private final String token;
    private final KeptHold kept;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private LockMode mode;
    private OptionalLong fencingToken;
    private long sinceNanos;
    private long endNanos;

    /** Until when its Lock relies on it. */
    private long reliableNanos;

    private LocalHold(Key local, KeptHold kept, OptionalLong fencingToken, long sinceNanos, long endNanos) {
        this.token = local.token();
        this.kept = kept;
        this.mode = kept.mode();
        this.fencingToken = fencingToken;
        lasts(sinceNanos, endNanos);
    }

    private void lasts(long since, long end) {
        sinceNanos = since;
        endNanos = end;
        reliableNanos = Lease.reliableUntil(since, ttl());
    }

    private Duration ttl() {
        return Duration.ofNanos(endNanos - sinceNanos);
    }

    /** Begins a hold of a Lock for its whole TTL. */
    static LocalHold begin(KeptHold kept, Request local, long now) {
        kept.reuse();
        return new LocalHold(local.key(), kept, kept.nextToken(), now, kept.endFrom(now, local));
    }

    /** Begins the hold of the Lock for which it was granted, which may be over. */
    static LocalHold asGranted(KeptHold kept, Request local) {
        return new LocalHold(local.key(), kept, kept.lastToken(), kept.sinceNanos(), kept.endFor(local));
    }

    /** Begins a hold of a Lock for what the store has granted it, which may be over. */
    static LocalHold ofTheRest(KeptHold kept, Request local) {
        return new LocalHold(local.key(), kept, kept.nextToken(), kept.sinceNanos(), kept.endFor(local));
    }

    boolean isOf(Key local) {
        return token.equals(local.token());
    }

    /** What it holds under. */
    KeptHold kept() {
        return kept;
    }

    LockMode mode() {
        return mode;
    }

    /** Whether its Lock relies on it: not longer, for what is left of its lease nobody else here has to wait for. */
    boolean isLive(long now) {
        return nanosToEnd(now) > 0 && !kept.isOver(now);
    }

    long nanosToEnd(long now) {
        return reliableNanos - now;
    }

    long endNanos() {
        return endNanos;
    }

    /** Goes on as the store has answered. */
    void renew(Response.Granted answer, long end) {
        mode = answer.mode();
        fencingToken = mode == LockMode.EXCLUSIVE ? answer.fencingToken() : OptionalLong.empty();
        lasts(answer.lease().since().orElse(sinceNanos), end);
    }

    /** What completes when it is lost: a signal of its own, for that of the store's hold outlasts it. */
    CompletableFuture<LossReason> lost() {
        return lost;
    }

    /** The answer to its Lock. */
    Response.Granted answer() {
        Lease ofSession = Lease.session(lost, kept.lease().isLive());
        Lease lease = kept.isTimed() ? ofSession.withTime(OptionalLong.of(sinceNanos), ttl()) : ofSession;
        return new Response.Granted(mode, fencingToken, lease);
    }
}

package dev.latchkey.sticky;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The hold of one Lock of this process under a hold of the store; guarded by the line of its resource. */
final class LocalHold {

    private final String token;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private LockMode mode;
    private OptionalLong fencingToken;
    private long endNanos;

    LocalHold(String token, LockMode mode, OptionalLong fencingToken, long endNanos) {
        this.token = token;
        this.mode = mode;
        this.fencingToken = fencingToken;
        this.endNanos = endNanos;
    }

    boolean isOf(String otherToken) {
        return token.equals(otherToken);
    }

    OptionalLong fencingToken() {
        return fencingToken;
    }

    LockMode mode() {
        return mode;
    }

    boolean isOver(long now) {
        return endNanos - now <= 0;
    }

    long nanosToEnd(long now) {
        return endNanos - now;
    }

    /** Goes on as the store has answered. */
    void renew(LockMode answeredMode, OptionalLong answeredToken, long newEnd) {
        mode = answeredMode;
        fencingToken = answeredToken;
        endNanos = newEnd;
    }

    /** What completes when it is lost: a signal of its own, for that of the store's hold outlasts it. */
    CompletableFuture<LossReason> lost() {
        return lost;
    }

    /**
     * The answer to its Lock.
     *
     * @param since when its lease begins to count
     * @param lease of the store's hold, with whose session it ends
     */
    Response.Granted answer(long since, Lease lease) {
        return new Response.Granted(
                mode,
                fencingToken,
                new Lease(
                        OptionalLong.of(since), Duration.ofNanos(endNanos - since), Optional.of(lost), lease.isLive()));
    }
}

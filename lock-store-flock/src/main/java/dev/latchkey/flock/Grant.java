package dev.latchkey.flock;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The hold of one holder.
 *
 * @param name the name it was acquired by
 * @param answer the response to its holder
 * @param lost completes when the hold ends without a release, before another can hold the file; conversions keep it
 */
record Grant(ResourceFile name, Response.Granted answer, CompletableFuture<LossReason> lost) {

    static Grant shared(ResourceFile name) {
        return of(name, LockMode.SHARED, OptionalLong.empty(), new CompletableFuture<>());
    }

    static Grant exclusive(ResourceFile name, long fencingToken) {
        return of(name, LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), new CompletableFuture<>());
    }

    Grant promoted(long fencingToken) {
        return of(name, LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), lost);
    }

    Grant demoted() {
        return of(name, LockMode.SHARED, OptionalLong.empty(), lost);
    }

    private static Grant of(
            ResourceFile name, LockMode mode, OptionalLong fencingToken, CompletableFuture<LossReason> lost) {
        return new Grant(name, new Response.Granted(mode, fencingToken, Lease.session(lost)), lost);
    }

    /** Notifies the holder of the loss. What its callbacks throw is theirs alone, as is a failure to record it. */
    void lose(LossReason reason) {
        try {
            lost.complete(reason);
        } catch (RuntimeException | Error e) {
            // Memory has run out, for instance. The other holders must be told, and the file unlocked, all the same.
        }
    }

    LockMode mode() {
        return answer.mode();
    }
}

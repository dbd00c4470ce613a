package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Demotes the holds that a request for a shared hold has found exclusive. The server only demotes for a request that claims the
 * fencing token of the hold, because any other may be a late copy from before a promotion. Its answer names that token.
 */
final class Demotions {

    private final ScriptRunner server;
    private final Requests requests;
    private final BatchRequests batches;

    Demotions(ScriptRunner server, Requests requests, BatchRequests batches) {
        this.server = server;
        this.requests = requests;
        this.batches = batches;
    }

    /** Reads the answer to an acquire that is not queued, and demotes if the hold is still exclusive. */
    Response response(Request request, List<Long> reply, long sinceNanos) {
        if (ReplyParser.isExclusiveStill(reply)) {
            demote(List.of(claiming(request, reply.get(0))));
        }
        return ReplyParser.response(reply, request, sinceNanos);
    }

    /** Returns the same request, with the claim that the key holds exclusively with this fencing token. */
    static Request claiming(Request request, long fence) {
        Key.Held claim = new Key.Held(LockMode.EXCLUSIVE, OptionalLong.of(fence));
        return request.with(request.key().claiming(Optional.of(claim)));
    }

    /**
     * Demotes holds. What is not held any more, or held with another fencing token, stays as it is.
     *
     * @param claims what was asked for, each with its claim
     */
    void demote(List<Request> claims) {
        if (!claims.isEmpty()) {
            List<Long> unused = server.ask(
                    claims.size() == 1
                            ? requests.acquire(claims.get(0), 0)
                            : batches.saveAll(claims, Optional.empty()));
        }
    }
}

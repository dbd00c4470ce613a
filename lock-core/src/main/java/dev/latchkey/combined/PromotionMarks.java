package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Refuses a second reader that waits to promote, for each would wait for the other. Nobody stands in a member's queue, so who
 * waits holds a mark beside the resource, which lapses by itself: an exclusive hold of the members. Where a member has no
 * leases nobody marks, for the mark of one that dies would stay.
 */
final class PromotionMarks {

    private static final String MARK = "latchkey:promotes:";

    /** Longer than a waiter pauses between two tries. */
    private static final Duration PAUSES = Duration.ofSeconds(5);

    private final Quorum quorum;
    private final TokenRaise fencing;
    private final boolean marks;
    private final Duration ttl;

    /** What those who wait here hold as their mark, by the token with which they read. */
    private final ConcurrentMap<String, Key> marked = new ConcurrentHashMap<>();

    PromotionMarks(Quorum quorum, TokenRaise fencing) {
        this.quorum = quorum;
        this.fencing = fencing;
        this.marks =
                quorum.members().stream().allMatch(member -> member.expiring().isPresent());
        this.ttl = PAUSES.plusNanos(2 * quorum.patienceNanos());
    }

    /** Returns what a request is answered, after what the members say. */
    Response settled(Request request, Response response) {
        if (!isPromotion(request)) {
            return response;
        }
        if (response instanceof Response.Conflicted && request.retryIntent() == RetryIntent.AGAIN && marks) {
            return isMarkedByAnother(request.key()) ? new Response.Refused() : response;
        }
        Optional<DeleteRound> ending = end(request.key());
        if (response instanceof Response.Conflicted) {
            // Else the next who waits to promote could be refused for one who waits no longer.
            ending.ifPresent(DeleteRound::settle);
        }
        return response;
    }

    private static boolean isPromotion(Request request) {
        return request.mode() == LockMode.EXCLUSIVE
                && request.key()
                        .held()
                        .filter(held -> held.mode() == LockMode.SHARED)
                        .isPresent();
    }

    /** No if the members do not say so: then the next try tells. */
    private boolean isMarkedByAnother(Key key) {
        String resource = MARK + key.resource();
        if (resource.length() > Key.MAX_RESOURCE_BYTES / 4) {
            return false;
        }
        Key mark = marked.computeIfAbsent(key.token(), any -> Key.of(resource));
        SaveRound round = new SaveRound(quorum, new Request(mark, LockMode.EXCLUSIVE, ttl, RetryIntent.ONCE), fencing);
        try {
            boolean isRefused = round.finish() instanceof Response.Conflicted && !round.wasSplit();
            if (isRefused) {
                marked.remove(key.token(), mark);
            }
            return isRefused;
        } catch (LockStorageException e) {
            return false;
        }
    }

    /** A reader waits no longer to promote; empty if it has no mark. */
    Optional<DeleteRound> end(Key key) {
        return Optional.ofNullable(marked.remove(key.token())).map(mark -> new DeleteRound(quorum, mark));
    }
}

package dev.latchkey.sticky;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;

/**
 * A request of a Lock about what it holds, and what the store is asked for it.
 *
 * @param line of the resource
 * @param kept what it holds under
 * @param local the request of the Lock
 * @param asked the request to the store
 */
record UsedHold(StickyLine line, KeptHold kept, Request local, Request asked) {

    /** Empty if the Lock holds nothing here. */
    static Optional<UsedHold> of(StickyLines lines, Request request) {
        if (request.key().held().isEmpty()) {
            return Optional.empty();
        }
        StickyLine line = lines.get(request.key().resource());
        LocalHold hold = line == null ? null : line.find(request.key());
        return line == null || hold == null ? Optional.empty() : Optional.of(of(line, hold, request));
    }

    /** One that may change more than its end is kept no more before the store is asked: the request may come there late. */
    private static UsedHold of(StickyLine line, LocalHold hold, Request request) {
        KeptHold kept = hold.kept();
        Request asked = KeptHold.asked(request, kept.claiming(request.key()), line.staysKept(request, kept));
        // Those who share it rely on its end.
        boolean mayEndSooner = request.leaseChange() == LeaseChange.SET && !line.isShared(hold);
        return new UsedHold(line, kept, request, mayEndSooner ? asked : asked.with(LeaseChange.EXTEND));
    }

    /** Whether other Locks of this process that share the hold stand in the way. */
    boolean isPromotion() {
        return local.mode() == LockMode.EXCLUSIVE
                && local.key()
                        .held()
                        .filter(held -> held.mode() == LockMode.SHARED)
                        .isPresent();
    }

    /** What the Lock is answered. */
    Response settle(Response response) {
        if (response instanceof Response.Lost lost) {
            line.lose(kept).forEach(told -> told.complete(lost.reason()));
            return response;
        }
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        Response.Granted answer = line.confirm(local, asked, kept, granted);
        return answer == null ? new Response.Lost(LossReason.RELEASED_ELSEWHERE) : answer;
    }
}

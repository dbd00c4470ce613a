package dev.latchkey.sticky;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;

/**
 * A request of a Lock about what it holds, and what the store is asked for it.
 *
 * @param line of the resource
 * @param hold what the request is about: the Lock may hold anew when it is answered
 * @param local the request of the Lock
 * @param asked the request to the store
 */
record UsedHold(StickyLine line, LocalHold hold, Request local, Request asked) {

    /** Asks the store, or has it asked. */
    interface Ask<X extends Exception> {
        Response ask(Request request) throws X;
    }

    /** Empty if the Lock holds nothing here. */
    static Optional<UsedHold> of(StickyLines lines, Request request) {
        StickyLine line =
                request.key().held().isEmpty() ? null : lines.get(request.key().resource());
        LineUse.Begun begun = line == null ? null : line.beginUse(request);
        return line == null || begun == null
                ? Optional.empty()
                : Optional.of(new UsedHold(line, begun.hold(), request, begun.asked()));
    }

    /** Whether other Locks of this process that share the hold stand in the way. */
    boolean isPromotion() {
        return local.mode() == LockMode.EXCLUSIVE
                && local.key()
                        .held()
                        .filter(held -> held.mode() == LockMode.SHARED)
                        .isPresent();
    }

    /** Asks the store; returns what the Lock is answered. */
    <X extends Exception> Response ask(Ask<X> store) throws X {
        Response response = null;
        begin();
        try {
            response = store.ask(asked);
            return settle(response);
        } finally {
            if (response == null) {
                notAnswered();
            }
            end();
        }
    }

    /** The store is about to be asked. */
    void begin() {
        line.beginRequest(hold.kept());
    }

    /** What the store has answered, or has not, is taken into account. */
    void end() {
        line.endRequest(hold.kept());
    }

    /** It may last longer than is known here: its release is to be real. */
    void notAnswered() {
        line.notAnswered(asked, hold.kept());
    }

    /** What the Lock is answered. */
    Response settle(Response response) {
        if (response instanceof Response.Lost lost) {
            line.lose(local.key(), hold).forEach(told -> told.complete(lost.reason()));
            return response;
        }
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        Response.Granted answer = line.confirm(local, asked, hold, granted);
        return answer == null ? new Response.Lost(LossReason.RELEASED_ELSEWHERE) : answer;
    }
}

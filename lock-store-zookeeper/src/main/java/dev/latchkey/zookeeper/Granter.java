package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.OptionalLong;
import org.apache.zookeeper.data.Stat;

/**
 * Grants the lock to the first in the queue. Its fencing token is that of the transaction that created the node. If a promotion
 * has overtaken the node and raised the floor of the queue above it, one more transaction raises the floor, and the token is
 * that of this one.
 */
final class Granter {

    private final Sessions sessions;
    private final Holds holds;
    private final Heartbeat heartbeat;

    Granter(Sessions sessions, Holds holds, Heartbeat heartbeat) {
        this.sessions = sessions;
        this.holds = holds;
        this.heartbeat = heartbeat;
    }

    /** Grants the hold; removes the node if that fails. */
    Response grant(Request request, QueueNode place, long floor, CallTimeout<RuntimeException> limit) {
        Session session = place.session();
        Key key = request.key();
        Hold hold = hold(request, place, floor, limit);
        if (hold.place() != place) {
            return hold.mode() == request.mode() ? hold.answer() : Response.Conflicted.NO_HINT;
        }
        boolean carried = session.carry(hold);
        heartbeat.carries(session);
        if (!carried || sessions.isClosed()) {
            holds.loseTo(hold, LossReason.SESSION_LOST);
            throw failure(session, key.resource());
        }
        if (request.isSticky()) {
            new RecallWatch(holds, hold).begin();
        }
        return hold.answer();
    }

    private LockStorageException failure(Session session, String resource) {
        if (sessions.isClosed()) {
            return Failures.closed(resource);
        }
        return session.isEnded() ? Failures.sessionEnded(resource) : Failures.unanswered(resource, session.client());
    }

    /**
     * Returns the hold of the key; see {@link Holds#put}. If it does not hold by the node, removes that, whatever has
     * failed: a node without a holder would exclude all others for as long as the session lasts.
     */
    private Hold hold(Request request, QueueNode place, long floor, CallTimeout<RuntimeException> limit) {
        boolean holdsByIt = false;
        try {
            OptionalLong zxid = OptionalLong.empty();
            if (request.mode() == LockMode.EXCLUSIVE) {
                zxid = OptionalLong.of(place.zxid() > floor ? place.zxid() : raiseFloor(place, limit));
            }
            place.session().proveIfOver(limit);
            Hold hold = holds.put(new Hold(request, place, zxid));
            holdsByIt = hold.place() == place;
            return hold;
        } finally {
            if (!holdsByIt) {
                place.leave(WaitSignal.LOOK);
            }
        }
    }

    private long raiseFloor(QueueNode place, CallTimeout<RuntimeException> limit) {
        Requests requests = place.session().requests();
        // What is there, for the number of the transaction.
        byte[] content = Paths.content(place.resource());
        Reply<Stat> raised = limit.answer(requests.write(place.parent(), content, Requests.ANY_VERSION));
        while (raised.isLost() && !limit.isOver()) {
            limit.pause();
            raised = limit.answer(requests.write(place.parent(), content, Requests.ANY_VERSION));
        }
        if (raised.isOk()) {
            return raised.value().getMzxid();
        }
        throw raised.isLost()
                ? Failures.unanswered(place.resource(), place.session().client())
                : Failures.of(place.resource(), raised, "writing to " + place.parent());
    }
}

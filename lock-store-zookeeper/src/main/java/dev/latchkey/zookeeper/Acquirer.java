package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Taking a resource by a key that holds nothing yet.
 *
 * <ol>
 *   <li>Who waits is let in by the {@link LocalWaitQueue} of the store.
 *   <li>A node is made at the end of the line, and the line is looked at, in one round trip; see {@link QueueJoin} for when
 *       the look is spared.
 *   <li>Who is first holds; see {@link Granter}.
 *   <li>Who is not waits for the node before it to go, and looks again; who follows an exclusive holder of the same session
 *       is first as soon as that gives up.
 * </ol>
 */
final class Acquirer {

    private final Sessions sessions;
    private final Paths paths;
    private final Heartbeat pulse;
    private final Granter granting;
    private final LocalWaitQueue queue = new LocalWaitQueue();

    /** As long for each store, so that its numbers make no id that is another store's. */
    private final String storeId = String.format(
                    "%16s", new BigInteger(80, new SecureRandom()).toString(Character.MAX_RADIX))
            .replace(' ', '0');

    private final AtomicLong numbers = new AtomicLong();

    Acquirer(Sessions sessions, Paths paths, Holds holds, Heartbeat pulse) {
        this.sessions = sessions;
        this.paths = paths;
        this.pulse = pulse;
        this.granting = new Granter(sessions, holds, pulse);
    }

    /** Lets those go on who have not joined a line yet, to find that the store is closed. */
    void close() {
        queue.close();
    }

    private QueueNode place(Session session, Request request) {
        String resource = request.key().resource();
        String number = Long.toString(numbers.incrementAndGet(), Character.MAX_RADIX);
        NodeKind kind = request.mode() == LockMode.EXCLUSIVE ? NodeKind.WRITER : NodeKind.READER;
        return new QueueNode(session, resource, paths.of(resource), storeId + number, kind);
    }

    /** Without waiting. */
    Response take(Request request) {
        Session session = session(request.key().resource());
        try {
            return take(request, session);
        } catch (LockStorageException e) {
            if (!sessions.replaces(session)) {
                throw e;
            }
            // It may have expired hours ago, with nobody looking: all that was in it is gone.
            return take(request, session(request.key().resource()));
        }
    }

    /** One that is watched over from now on: without that, this process would seem to stand still. */
    Session session(String resource) {
        Session session = sessions.forUse(resource);
        pulse.needed(resource);
        return session;
    }

    private Response take(Request request, Session session) {
        session.makeSure(CallTimeout.deaf(session.sureNanos()));
        CallTimeout<RuntimeException> limit = CallTimeout.deaf(Failures.ANSWER_NANOS);
        QueueNode place = place(session, request);
        WaitQueue line = place.join(limit);
        if (line.of(place.name()).equals(QueuePosition.FREE)) {
            return granting.grant(request, place, line.floor(), limit);
        }
        place.leave(WaitSignal.LOOK);
        return Response.Conflicted.NO_HINT;
    }

    /** Waits its turn; from the end of the line again when a promoter goes first, and when the session was lost. */
    Response await(Request request, long endNanos, CompletableFuture<Void> stop) throws InterruptedException {
        LocalWaitQueue.Ticket ticket = queue.enter(paths.of(request.key().resource()));
        try {
            if (!ticket.await(request.key().resource(), endNanos, stop)) {
                return Response.Conflicted.NO_HINT;
            }
            while (true) {
                Session session = session(request.key().resource());
                Waiter waiter = new Waiter();
                CompletableFuture<Void> unused = stop.thenRun(() -> waiter.end(WaitSignal.STOP));
                Response response = await(request, place(session, request), waiter, endNanos);
                if (response != null) {
                    return response;
                }
                if (System.nanoTime() - endNanos >= 0) {
                    return unserved(request, session);
                }
            }
        } catch (LockStorageException e) {
            if (CallTimeout.isPatient(joiningNanos(endNanos))) {
                ticket.failed(e);
            }
            throw e;
        } finally {
            ticket.leave();
        }
    }

    /** It would begin anew, but its time is over. */
    private static Response unserved(Request request, Session session) {
        if (session.isLive()) {
            return Response.Conflicted.NO_HINT;
        }
        throw Failures.sessionEnded(request.key().resource());
    }

    /** Null if it has to begin anew. */
    private @Nullable Response await(Request request, QueueNode place, Waiter waiter, long endNanos)
            throws InterruptedException {
        Session session = place.session();
        session.joins(waiter);
        try {
            // Closed in between, it was not told.
            return sessions.isClosed() ? null : joinAndAwait(request, place, waiter, endNanos);
        } finally {
            session.remove(waiter);
        }
    }

    private @Nullable Response joinAndAwait(Request request, QueueNode place, Waiter waiter, long endNanos)
            throws InterruptedException {
        Session session = place.session();
        session.makeSure(CallTimeout.alert(session.sureNanos(), waiter.ended()));
        CallTimeout<InterruptedException> limit = CallTimeout.alert(joiningNanos(endNanos), waiter.ended());
        WaitQueue line;
        try {
            line = place.join(limit);
        } catch (LockStorageException e) {
            if (limit.isStopped()) {
                return waiter.isStopped() ? Response.Conflicted.NO_HINT : null;
            }
            if (sessions.replaces(session)) {
                return null;
            }
            throw e;
        }
        session.add(waiter);
        boolean granted = false;
        try {
            WaitSignal end = session.isLive() ? awaitTurn(place, line, waiter, endNanos) : WaitSignal.SESSION_LOST;
            if (end instanceof WaitSignal.Next turn) {
                granted = true;
                return grant(request, place, turn, endNanos);
            }
            return end.equals(WaitSignal.STOP) ? Response.Conflicted.NO_HINT : null;
        } finally {
            if (!granted) {
                place.leave(WaitSignal.LOOK);
            }
        }
    }

    /** Null if the session was lost between the turn and the hold. */
    private @Nullable Response grant(Request request, QueueNode place, WaitSignal.Next turn, long endNanos) {
        try {
            return granting.grant(request, place, turn.token(), CallTimeout.deaf(joiningNanos(endNanos)));
        } catch (LockStorageException e) {
            if (sessions.isClosed() || place.session().isLive()) {
                throw e;
            }
            return null;
        }
    }

    /** Time for an answer, also for one who has hardly any time to wait. */
    static long joiningNanos(long endNanos) {
        return Math.min(Failures.ANSWER_NANOS, Math.max(Failures.LEAVING_NANOS, endNanos - System.nanoTime()));
    }

    /** Returns the greatest token of all before it, when it is first; else why it stands there no longer. */
    private WaitSignal awaitTurn(QueueNode place, WaitQueue joined, Waiter waiter, long endNanos)
            throws InterruptedException {
        WaitQueue line = joined;
        while (true) {
            WaitRound round = waiter.newRound();
            QueuePosition verdict = line.of(place.name());
            if (verdict.equals(QueuePosition.FREE)) {
                return new WaitSignal.Next(line.floor());
            }
            if (!(verdict instanceof QueuePosition.Behind behind)) {
                return WaitSignal.LOOK;
            }
            WaitSignal signal = await(place, behind.obstacle(), line, round, endNanos);
            if (!signal.equals(WaitSignal.LOOK)) {
                return signal;
            }
            CallTimeout<InterruptedException> limit = CallTimeout.alert(joiningNanos(endNanos), waiter.ended());
            try {
                line = place.look(limit);
            } catch (LockStorageException e) {
                if (limit.isStopped()) {
                    return waiter.ended().join();
                }
                throw e;
            }
        }
    }

    static WaitSignal await(QueueNode place, NodeName obstacle, WaitQueue line, WaitRound round, long endNanos)
            throws InterruptedException {
        NodeListeners followed =
                place.session().neighbours().follow(place.parent() + '/' + obstacle.name(), obstacle, line, round);
        try {
            return round.await(endNanos);
        } finally {
            followed.remove(round);
        }
    }
}

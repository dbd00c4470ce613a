package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Acquires a resource for a key that holds nothing yet.
 *
 * <ol>
 *   <li>A waiter passes the {@link LocalWaitQueue} of the store.
 *   <li>A node is created at the end of the queue, and the queue is read, in one round trip. {@link QueueJoin} describes
 *       when the queue need not be read.
 *   <li>The first in the queue holds the lock; see {@link Granter}.
 *   <li>The others ask those before them to give back what they may only keep, wait until the node before them is deleted, and
 *       read the queue again. A waiter behind an exclusive holder of the same session is granted the lock as soon as that
 *       releases it.
 * </ol>
 */
final class Acquirer {

    private final Sessions sessions;
    private final Paths paths;
    private final Heartbeat heartbeat;
    private final Granter granter;
    private final LocalWaitQueue queue = new LocalWaitQueue();

    /** Of the same length for each store, so that appended numbers never make the id of another store. */
    private final String storeId = String.format(
                    "%" + NodeName.STORE_ID_LENGTH + "s",
                    new BigInteger(80, new SecureRandom()).toString(Character.MAX_RADIX))
            .replace(' ', '0');

    private final AtomicLong numbers = new AtomicLong();

    Acquirer(Sessions sessions, Paths paths, Holds holds, Heartbeat heartbeat) {
        this.sessions = sessions;
        this.paths = paths;
        this.heartbeat = heartbeat;
        this.granter = new Granter(sessions, holds, heartbeat);
    }

    /** Lets waiters that have not joined a queue yet find that the store is closed. */
    void close() {
        queue.close();
    }

    private QueueNode place(Session session, Request request) {
        String resource = request.key().resource();
        String id = NodeName.id(storeId, numbers.incrementAndGet(), request.isSticky());
        NodeKind kind = request.mode() == LockMode.EXCLUSIVE ? NodeKind.WRITER : NodeKind.READER;
        return new QueueNode(session, resource, paths.of(resource), id, kind);
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
            // It may have expired hours ago: nothing of it is left.
            return take(request, session(request.key().resource()));
        }
    }

    /** Returns the session, watched by the heartbeat from now on: otherwise this process would seem to stand still. */
    Session session(String resource) {
        Session session = sessions.forUse(resource);
        heartbeat.needed(resource);
        return session;
    }

    private Response take(Request request, Session session) {
        session.makeSure(CallTimeout.uninterruptible(session.sureNanos()));
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);
        QueueNode place = place(session, request);
        WaitQueue line = place.join(limit);
        if (line.of(place.name()).equals(QueuePosition.FREE)) {
            return granter.grant(request, place, line.floor(), limit);
        }
        CompletableFuture<Boolean> recalled = place.recall(line);
        place.leave(WaitSignal.LOOK);
        // Answered before the deletion that it was sent before.
        return new Response.Conflicted(Duration.ZERO, recalled.getNow(false));
    }

    /** Waits for the lock; joins the queue again when a promoter goes first, or when the session was lost. */
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

    /** Returns the response when the time is over before it could join the queue again. */
    private static Response unserved(Request request, Session session) {
        if (session.isLive()) {
            return Response.Conflicted.NO_HINT;
        }
        throw Failures.sessionEnded(request.key().resource());
    }

    /** Returns null if it has to join the queue again. */
    private @Nullable Response await(Request request, QueueNode place, Waiter waiter, long endNanos)
            throws InterruptedException {
        Session session = place.session();
        session.joins(waiter);
        try {
            // If the store was closed in between, the waiter was not told.
            return sessions.isClosed() ? null : joinAndAwait(request, place, waiter, endNanos);
        } finally {
            session.remove(waiter);
        }
    }

    private @Nullable Response joinAndAwait(Request request, QueueNode place, Waiter waiter, long endNanos)
            throws InterruptedException {
        Session session = place.session();
        session.makeSure(CallTimeout.interruptible(session.sureNanos(), waiter.ended()));
        CallTimeout<InterruptedException> limit = CallTimeout.interruptible(joiningNanos(endNanos), waiter.ended());
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

    /** Returns null if the session was lost before the hold was granted. */
    private @Nullable Response grant(Request request, QueueNode place, WaitSignal.Next turn, long endNanos) {
        try {
            return granter.grant(request, place, turn.floor(), CallTimeout.uninterruptible(joiningNanos(endNanos)));
        } catch (LockStorageException e) {
            if (sessions.isClosed() || place.session().isLive()) {
                throw e;
            }
            return null;
        }
    }

    /** Returns the time to wait for an answer, also if the call has hardly any time left. */
    static long joiningNanos(long endNanos) {
        return Math.min(Failures.ANSWER_NANOS, Math.max(Failures.LEAVING_NANOS, endNanos - System.nanoTime()));
    }

    /** Returns the floor of the queue when the node is first in the queue, otherwise why it no longer waits. */
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
            CompletableFuture<Boolean> unused = place.recall(line);
            WaitSignal signal = await(place, behind.obstacle(), line, round, endNanos);
            if (!signal.equals(WaitSignal.LOOK)) {
                return signal;
            }
            CallTimeout<InterruptedException> limit = CallTimeout.interruptible(joiningNanos(endNanos), waiter.ended());
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
        NodeListeners followed = place.session()
                .predecessorWatches()
                .follow(place.parent() + '/' + obstacle.name(), obstacle, line, round);
        try {
            return round.await(endNanos);
        } finally {
            followed.remove(round);
        }
    }
}

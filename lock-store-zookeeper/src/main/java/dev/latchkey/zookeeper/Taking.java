package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Taking a resource by a key that holds nothing yet.
 *
 * <ol>
 *   <li>Who waits is let in by the {@link Queue} of the store.
 *   <li>A node is made at the end of the line, and the line is looked at, in one round trip; see {@link Joining} for when
 *       the look is spared.
 *   <li>Who is first holds; see {@link Granting}.
 *   <li>Who is not waits for the node before it to go, and looks again; who follows an exclusive holder of the same session
 *       is first as soon as that gives up.
 * </ol>
 */
final class Taking {

    private final Sessions sessions;
    private final Paths paths;
    private final Pulse pulse;
    private final Granting granting;
    private final Queue queue = new Queue();

    /** As long for each store, so that its numbers make no id that is another store's. */
    private final String storeId = String.format(
                    "%16s", new BigInteger(80, new SecureRandom()).toString(Character.MAX_RADIX))
            .replace(' ', '0');

    private final AtomicLong numbers = new AtomicLong();

    Taking(Sessions sessions, Paths paths, Holds holds, Pulse pulse) {
        this.sessions = sessions;
        this.paths = paths;
        this.pulse = pulse;
        this.granting = new Granting(sessions, holds);
    }

    /** Lets those go on who have not joined a line yet, to find that the store is closed. */
    void close() {
        queue.close();
    }

    private Place place(Session session, Request request) {
        String resource = request.key().resource();
        String number = Long.toString(numbers.incrementAndGet(), Character.MAX_RADIX);
        Kind kind = request.mode() == LockMode.EXCLUSIVE ? Kind.WRITER : Kind.READER;
        return new Place(session, resource, paths.of(resource), storeId + number, kind);
    }

    /** Without waiting. */
    Attempt take(Request request) {
        Session session = session(request);
        try {
            return take(request, session);
        } catch (LockStorageException e) {
            if (!sessions.replaces(session)) {
                throw e;
            }
            // It may have expired hours ago, with nobody looking: all that was in it is gone.
            return take(request, session(request));
        }
    }

    /** One that is watched over from now on. */
    private Session session(Request request) {
        String resource = request.key().resource();
        Session session = sessions.forUse(resource);
        pulse.needed(resource);
        return session;
    }

    private Attempt take(Request request, Session session) {
        session.makeSure(Limit.deaf(session.sureNanos()));
        Limit<RuntimeException> limit = Limit.deaf(Failures.ANSWER_NANOS);
        Place place = place(session, request);
        Line line = place.join(limit);
        if (line.of(place.name()).equals(Verdict.FREE)) {
            return granting.grant(request, place, line.floor(), limit);
        }
        place.leave(Signal.LOOK);
        return Attempt.Conflicted.NO_HINT;
    }

    /** Waits its turn; from the end of the line again when a promoter goes first, and when the session was lost. */
    Attempt await(Request request, long endNanos, CompletableFuture<Void> stop) throws InterruptedException {
        Queue.Ticket ticket = queue.enter(paths.of(request.key().resource()));
        try {
            if (!ticket.await(request.key().resource(), endNanos, stop)) {
                return Attempt.Conflicted.NO_HINT;
            }
            while (true) {
                Session session = session(request);
                Waiter waiter = new Waiter();
                CompletableFuture<Void> unused = stop.thenRun(() -> waiter.end(Signal.STOP));
                Attempt attempt = await(request, place(session, request), waiter, endNanos);
                if (attempt != null) {
                    return attempt;
                }
                if (System.nanoTime() - endNanos >= 0) {
                    return unserved(request, session);
                }
            }
        } catch (LockStorageException e) {
            if (Limit.isPatient(joiningNanos(endNanos))) {
                ticket.failed(e);
            }
            throw e;
        } finally {
            ticket.leave();
        }
    }

    /** It would begin anew, but its time is over. */
    private static Attempt unserved(Request request, Session session) {
        if (session.isLive()) {
            return Attempt.Conflicted.NO_HINT;
        }
        throw Failures.sessionEnded(request.key().resource());
    }

    /** Null if it has to begin anew. */
    private @Nullable Attempt await(Request request, Place place, Waiter waiter, long endNanos)
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

    private @Nullable Attempt joinAndAwait(Request request, Place place, Waiter waiter, long endNanos)
            throws InterruptedException {
        Session session = place.session();
        session.makeSure(Limit.alert(session.sureNanos(), waiter.ended()));
        Limit<InterruptedException> limit = Limit.alert(joiningNanos(endNanos), waiter.ended());
        Line line;
        try {
            line = place.join(limit);
        } catch (LockStorageException e) {
            if (limit.isStopped()) {
                return waiter.isStopped() ? Attempt.Conflicted.NO_HINT : null;
            }
            if (sessions.replaces(session)) {
                return null;
            }
            throw e;
        }
        session.add(waiter);
        boolean granted = false;
        try {
            Signal end = session.isLive() ? awaitTurn(place, line, waiter, endNanos) : Signal.SESSION_LOST;
            if (end instanceof Signal.Next turn) {
                granted = true;
                return grant(request, place, turn, endNanos);
            }
            return end.equals(Signal.STOP) ? Attempt.Conflicted.NO_HINT : null;
        } finally {
            if (!granted) {
                place.leave(Signal.LOOK);
            }
        }
    }

    /** Null if the session was lost between the turn and the hold. */
    private @Nullable Attempt grant(Request request, Place place, Signal.Next turn, long endNanos) {
        try {
            return granting.grant(request, place, turn.token(), Limit.deaf(joiningNanos(endNanos)));
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
    private Signal awaitTurn(Place place, Line joined, Waiter waiter, long endNanos) throws InterruptedException {
        Line line = joined;
        while (true) {
            Round round = waiter.newRound();
            Verdict verdict = line.of(place.name());
            if (verdict.equals(Verdict.FREE)) {
                return new Signal.Next(line.floor());
            }
            if (!(verdict instanceof Verdict.Behind behind)) {
                return Signal.LOOK;
            }
            Signal signal = await(place, behind.obstacle(), line, round, endNanos);
            if (!signal.equals(Signal.LOOK)) {
                return signal;
            }
            Limit<InterruptedException> limit = Limit.alert(joiningNanos(endNanos), waiter.ended());
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

    static Signal await(Place place, Entry obstacle, Line line, Round round, long endNanos)
            throws InterruptedException {
        Followers followed =
                place.session().neighbours().follow(place.parent() + '/' + obstacle.name(), obstacle, line, round);
        try {
            return round.await(endNanos);
        } finally {
            followed.remove(round);
        }
    }
}

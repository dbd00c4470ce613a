package dev.latchkey.etcd;

import dev.latchkey.LockStorageException;
import dev.latchkey.etcd.QueuePlace.Look;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.concurrent.TimeUnit;

/**
 * One owner in the line of a resource. It waits for the end of the one before it, or of the holder if it is the first, and acquires by a
 * transaction of its own, with a lease that was not there while it waited: nobody else grants it anything.
 */
final class QueueWait {

    /** In case an event was lost, and to renew the lease of the place. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** After a watch that ended without an event. */
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String resource;
    private final Services services;
    private final QueuePlace place;
    private final KeyRange all;

    QueueWait(Request request, LockKeys keys, Services services) {
        this.resource = request.key().resource();
        this.services = services;
        this.place = new QueuePlace(request, keys, services);
        this.all = keys.all();
    }

    /** Tries, and waits if others are before. An owner that reads already, or does so meanwhile, does not wait here. */
    Holds.Outcome await(WaitEnd end) throws InterruptedException {
        long maxWaitNanos =
                Math.min(services.calls().limit().toNanos(), Math.max(0, end.endNanos() - System.nanoTime()));
        Look first = services.entrances().inOrder(resource, maxWaitNanos, place::enter);
        if (first.outcome().isPresent()) {
            return first.outcome().get();
        }
        return awaitTurn(first, end);
    }

    private Holds.Outcome awaitTurn(Look first, WaitEnd end) throws InterruptedException {
        Holds.Outcome outcome;
        try {
            outcome = awaitGrant(first, end);
        } catch (LockStorageException e) {
            place.leave();
            throw place.withDoubt(e);
        } catch (InterruptedException e) {
            giveUpInterrupted();
            throw e;
        }
        if (!(outcome.response() instanceof Response.Granted)) {
            place.giveUp();
        }
        return outcome;
    }

    /** That a grant is in doubt is told rather than the interrupt, which the thread then still has. */
    private void giveUpInterrupted() {
        try {
            place.giveUp();
        } catch (LockStorageException e) {
            Thread.currentThread().interrupt();
            throw e;
        }
    }

    private Holds.Outcome awaitGrant(Look first, WaitEnd end) throws InterruptedException {
        Look look = first;
        while (look.outcome().isEmpty()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            services.checkOpen(resource);
            if (end.isOver()) {
                return new Holds.Outcome(Response.Conflicted.NO_HINT, false);
            }
            look = look.isPlaceLost() ? place.join() : next(look, end);
        }
        return look.outcome().get();
    }

    /** Only when a holder has gone may it be the turn of this one: looking writes, and waits for the disks of the servers. */
    private Look next(Look look, WaitEnd end) throws InterruptedException {
        if (look.obstacle().isEmpty()) {
            return place.look();
        }
        QueueRules.Obstacle obstacle = look.obstacle().get();
        boolean isGone = services.awaitEnd(resource, all, obstacle.keys(), look.revision(), end);
        if (!isGone) {
            return place.seeAgain(look);
        }
        return obstacle.holds() ? place.look() : place.see();
    }
}

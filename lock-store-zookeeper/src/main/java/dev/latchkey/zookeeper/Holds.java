package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The holds of this store, and what their holders do with them. */
final class Holds {

    private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

    /** Returns null if the key holds nothing. */
    @Nullable Hold of(Key key) {
        Hold hold = holds.get(key);
        return hold == null || !hold.isLive() ? null : hold;
    }

    int size() {
        return holds.size();
    }

    /** Returns the hold of the key: the given one, or one that another caller with the same key has just been granted. */
    Hold put(Hold hold) {
        Hold all = holds.merge(hold.key(), hold, (before, after) -> before.isLive() ? before : after);
        hold.whenLost(() -> holds.remove(hold.key(), hold));
        return all;
    }

    boolean release(Key key) {
        Hold hold = holds.remove(key);
        if (hold == null) {
            return false;
        }
        hold.change().lock();
        try {
            return hold.end() && release(hold);
        } finally {
            hold.change().unlock();
        }
    }

    private boolean release(Hold hold) {
        Session session = hold.place().session();
        session.drop(hold);
        List<String> paths = hold.paths();
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);
        Reply<Void> deleted = delete(hold, paths, limit);
        boolean repeated = deleted.isLost();
        while (deleted.isLost() && !limit.isOver()) {
            limit.pause();
            deleted = limit.answer(session.requests().delete(paths));
        }
        if (!deleted.isOk() || hold.isInDoubt()) {
            session.sweeper().sweep(hold.place());
        } else {
            hold.gonePlaces();
        }
        if (deleted.isOk() && !repeated && paths.size() == 1 && hold.place().isFirst()) {
            session.lastReleased()
                    .gone(
                            hold.place().parent(),
                            hold.place().number(),
                            hold.place().zxid());
        }
        if (deleted.isOk() || deleted.is(Code.NONODE) || deleted.isSessionEnd()) {
            // Nobody else knows the name: if the node is gone after a lost answer, that request removed it.
            return deleted.isOk() || (repeated && deleted.is(Code.NONODE));
        }
        String resource = hold.key().resource();
        throw deleted.isLost()
                ? Failures.unanswered(resource, session.client())
                : Failures.of(resource, deleted, "deleting " + hold.place().path());
    }

    private static Reply<Void> delete(Hold hold, List<String> paths, CallTimeout<RuntimeException> limit) {
        Requests requests = hold.place().session().requests();
        if (paths.size() > 1 || !hold.place().followers().isEmpty() || !limit.mayBlock()) {
            CompletableFuture<Reply<Void>> deleting = requests.delete(paths);
            // The next waiter of this store need not wait for the answer: nobody else can be granted before it.
            hold.endPlaces(hold.farewell());
            return limit.answer(deleting);
        }
        hold.endPlaces(hold.farewell());
        return limit.call(() -> hold.place().session().directRequests().delete(paths.get(0)));
    }

    /** Asks the servers whether the key holds. */
    Optional<Response.Granted> find(Key key) {
        Hold hold = of(key);
        if (hold == null || !hold.place().session().isLive()) {
            return Optional.empty();
        }
        Session session = hold.place().session();
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);
        QueueNode decisive = Optional.ofNullable(hold.promotion()).orElse(hold.place());
        Reply<Stat> stat;
        do {
            CompletableFuture<Reply<Void>> proof = session.requests().sync(decisive.parent());
            stat = limit.answer(session.requests().stat(decisive.path()));
            Reply<Void> proven = limit.answer(proof);
            if (!proven.isLost() && stat.isOk() && stat.value().getEphemeralOwner() == session.id()) {
                return hold.isLive() ? Optional.of(hold.answer(key)) : Optional.empty();
            }
            if (stat.isLost() || proven.isLost()) {
                stat = Reply.none();
                limit.pause();
            }
        } while (stat.isLost() && !limit.isOver() && hold.isLive());
        if (!hold.isLive()) {
            return Optional.empty();
        }
        if (stat.isLost()) {
            throw Failures.unanswered(key.resource(), session.client());
        }
        if (stat.is(Code.NONODE)) {
            loseTo(hold, LossReason.RELEASED_ELSEWHERE);
            return Optional.empty();
        }
        throw Failures.of(key.resource(), stat, "looking at " + decisive.path());
    }

    /** Ends a hold whose node was removed by others, or whose session is over. */
    void loseTo(Hold hold, LossReason reason) {
        holds.remove(hold.key(), hold);
        hold.place().session().drop(hold);
        if (hold.lose(reason)) {
            hold.place().session().sweeper().sweep(hold.place());
        }
    }

    /** Demotes; no other client is granted the lock exclusively in between. */
    Response demote(Hold hold) {
        hold.change().lock();
        try {
            if (hold.mode() == LockMode.SHARED) {
                return hold.answer();
            }
            return new Demotion(this, hold).now();
        } finally {
            hold.change().unlock();
        }
    }
}

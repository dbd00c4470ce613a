package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.to;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * The lock of one document under one token. One request at a time changes the hold. What a request gives up counts as given
 * up from the moment before it is sent, even if there is no answer.
 */
final class DocumentLock {

    private static final SecureRandom RANDOM = new SecureRandom();

    /** A field that is read and never stored. */
    private static final String LOCKED = "_isLocked";

    private final Commands commands;
    private final BsonValue id;
    private final String name;
    private final Duration ttl;
    private final Duration skew;
    private final String token = newToken();
    private final ReentrantLock turn = new ReentrantLock();
    private volatile DocumentHold hold = DocumentHold.NONE;

    DocumentLock(Commands commands, BsonValue id, String name, Duration ttl, Duration skew) {
        this.commands = commands;
        this.id = id;
        this.name = name;
        this.ttl = ttl;
        this.skew = skew;
    }

    private static String newToken() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String name() {
        return name;
    }

    DocumentHold hold() {
        return hold;
    }

    /** Loads without a lock, unless somebody holds a write lock. */
    Optional<BsonDocument> read() {
        BsonDocument look = object(to(LOCKED, rules().isWrittenByOther()));
        Optional<BsonDocument> found = commands.find(Filters.eq(Mapping.ID, id), new BsonDocument("$addFields", look));
        if (found.isPresent() && found.get().getBoolean(LOCKED).getValue()) {
            throw conflict();
        }
        found.ifPresent(document -> document.remove(LOCKED));
        return found;
    }

    Optional<BsonDocument> take(DocumentLockMode mode) {
        long start = System.nanoTime();
        Optional<BsonDocument> found;
        try {
            found = commands.change(Filters.eq(Mapping.ID, id), rules().take(mode));
        } catch (MongoException e) {
            giveBackAfter(e);
            throw e;
        }
        if (found.isPresent() && !LockFields.names(found.get(), token)) {
            throw conflict();
        }
        found.ifPresent(document -> become(DocumentHold.granted(mode, start, ttl, document)));
        return found;
    }

    private LockConflictedException conflict() {
        return new LockConflictedException(name, "somebody else holds it");
    }

    /** Releases what may have been granted without an answer. */
    private void giveBackAfter(MongoException failure) {
        if (Commands.isNotSent(failure)) {
            return;
        }
        try {
            boolean unused = releaseOnServer();
        } catch (MongoException e) {
            failure.addSuppressed(e);
        }
    }

    /** Renews the lock, and loads the present document. */
    BsonDocument refresh() {
        return inTurn(() -> change("could not be refreshed", hold.mode(), rules().isHolder(), rules().refresh()));
    }

    BsonDocument promote() {
        return inTurn(() -> {
            if (hold.state() == DocumentHold.State.DEMOTING) {
                throw new LockConflictedException(
                        name, "could not be promoted, a demotion was not answered: release it, and lock it anew");
            }
            return change(
                    "could not be promoted",
                    DocumentLockMode.PESSIMISTIC_WRITE,
                    rules().mayPromote(),
                    rules().promote());
        });
    }

    BsonDocument demote() {
        return inTurn(() -> {
            hold.check(name);
            become(hold.demoting());
            BsonDocument changed = change(
                    "could not be demoted", DocumentLockMode.PESSIMISTIC_READ, rules().isHolder(), rules().demote());
            become(hold.in(DocumentHold.State.HELD));
            return changed;
        });
    }

    /** A renewal does not settle a demotion that was not answered. */
    private BsonDocument change(String problem, DocumentLockMode mode, Bson test, List<BsonDocument> stages) {
        hold.check(name);
        long start = System.nanoTime();
        Bson filter = Filters.and(Filters.eq(Mapping.ID, id), test);
        Optional<BsonDocument> changed = commands.change(filter, stages);
        if (changed.isEmpty()) {
            throw refused(problem);
        }
        become(DocumentHold.granted(mode, start, ttl, changed.get()).in(hold.state()));
        hold.check(name);
        return changed.get();
    }

    /** A loss is final: a request that is answered after it does not bring the lock back. */
    private synchronized void become(DocumentHold next) {
        if (hold.state() != DocumentHold.State.LOST) {
            hold = next;
        }
    }

    /** A token that is still in the document was refused because of others; one that is not has lost the lock. */
    private RuntimeException refused(String problem) {
        Bson isHolder = Filters.and(Filters.eq(Mapping.ID, id), rules().isHolder());
        if (commands.find(isHolder).isPresent()) {
            return new LockConflictedException(name, problem + ": others read it too");
        }
        boolean isNamed = commands.find(Filters.and(Filters.eq(Mapping.ID, id), rules().isNamed()))
                .isPresent();
        LossReason reason = isNamed ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
        become(DocumentHold.lost(reason));
        return new LockLostException(name, problem + ", it is no longer held", reason);
    }

    /** Writes while the lock is held. Does not take the turn, because a renewal must not wait for a write that is repeated. */
    <R> R write(Work<R> work) throws InterruptedException {
        hold.checkWritable(name);
        try {
            return work.with(guard(Guard.Owner.After.KEPT));
        } catch (LockLostException e) {
            become(DocumentHold.lost(e.reason()));
            throw e;
        }
    }

    /** A write under a guard. */
    interface Work<R> {
        R with(Guard guard) throws InterruptedException;
    }

    /** Writes for the last time: the write releases the lock, or deletes it with its document. */
    <R> R writeAndRelease(Guard.Owner.After after, Function<Guard, R> write) {
        return inTurn(() -> {
            hold.checkWritable(name);
            DocumentHold before = hold;
            Guard guard = guard(after);
            if (!before.isHeld()) {
                return write.apply(guard);
            }
            become(before.in(DocumentHold.State.RELEASING));
            try {
                R result = write.apply(guard);
                become(before.in(DocumentHold.State.RELEASED));
                return result;
            } catch (LockLostException e) {
                become(DocumentHold.lost(e.reason()));
                throw e;
            } catch (LockConflictedException | OptimisticLockException e) {
                become(before);
                throw e;
            } catch (MongoCommandException e) {
                if (!Commands.isInDoubt(e)) {
                    become(before);
                }
                throw e;
            }
        });
    }

    private Guard guard(Guard.Owner.After after) {
        return hold.state() == DocumentHold.State.NONE ? new Guard.Unlocked(skew) : new Guard.Owner(token, skew, after);
    }

    /**
     * Releases the lock.
     *
     * @return what the holder must be told, if it was lost and that is not known yet
     */
    Optional<LockLostException> release() {
        return inTurn(() -> {
            DocumentHold before = hold;
            if (!before.mayBeThere()) {
                return Optional.empty();
            }
            boolean wasOver = before.remainingNanos() == 0;
            become(before.in(DocumentHold.State.RELEASING));
            boolean wasThere = releaseOnServer();
            become(before.in(DocumentHold.State.RELEASED));
            if (!before.isHeld() || (wasThere && !wasOver)) {
                return Optional.empty();
            }
            LossReason reason =
                    wasThere ? LossReason.EXPIRED : wasOver ? LossReason.TAKEN_OVER : LossReason.RELEASED_ELSEWHERE;
            become(DocumentHold.lost(reason));
            return Optional.of(new LockLostException(name, "found lost when it was released", reason));
        });
    }

    /**
     * Returns false if somebody else has held the lock since. Also works on an interrupted thread, on which the driver
     * sends nothing.
     */
    private boolean releaseOnServer() {
        Bson filter = Filters.and(Filters.eq(Mapping.ID, id), rules().isNamed());
        boolean isInterrupted = Thread.interrupted();
        try {
            return commands.change(filter, rules().release()).isPresent();
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <R> R inTurn(Supplier<R> request) {
        turn.lock();
        try {
            return request.get();
        } finally {
            turn.unlock();
        }
    }

    private LockRules rules() {
        return new LockRules(token, ttl, skew);
    }
}

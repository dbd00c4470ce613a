package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.to;

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
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * The lock of one document under one token, and what this process knows of its lease: counted on the monotonic clock from
 * before each request, less a margin, so that it is over here before it is over on the server.
 */
final class DocumentLock {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

    /** In what is read, and never stored. */
    private static final String LOCKED = "_isLocked";

    /** What is held, and until when on the monotonic clock. */
    private record Hold(DocumentLockMode mode, long end, long fencingToken) {}

    private static final Hold NOTHING = new Hold(DocumentLockMode.NONE, 0, 0);

    private final Commands commands;
    private final BsonValue id;
    private final String name;
    private final Duration ttl;
    private final String token = newToken();
    private volatile Hold hold = NOTHING;

    DocumentLock(Commands commands, BsonValue id, String name, Duration ttl) {
        this.commands = commands;
        this.id = id;
        this.name = name;
        this.ttl = ttl;
    }

    private static String newToken() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String token() {
        return token;
    }

    String name() {
        return name;
    }

    DocumentLockMode mode() {
        return hold.mode();
    }

    long fencingToken() {
        return hold.fencingToken();
    }

    long remainingNanos() {
        Hold now = hold;
        return now.mode() == DocumentLockMode.NONE ? 0 : Math.max(0, now.end() - System.nanoTime());
    }

    /** Loads without a lock, unless somebody writes. */
    Optional<BsonDocument> read() {
        BsonDocument look = object(to(LOCKED, LockFields.isWrittenByOther(token)));
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
        found.ifPresent(document -> granted(mode, start, document));
        return found;
    }

    private LockConflictedException conflict() {
        return new LockConflictedException(name, "somebody else holds it");
    }

    /** What may have been granted must not stay. */
    private void giveBackAfter(MongoException failure) {
        try {
            release();
        } catch (MongoException e) {
            failure.addSuppressed(e);
        }
    }

    private void granted(DocumentLockMode mode, long start, BsonDocument document) {
        long nanos = ttl.toNanos();
        long fencingToken = LockFields.fencingToken(document);
        hold = new Hold(mode, start + nanos - nanos / 100 - DRIFT_NANOS, fencingToken);
    }

    /** Renews, and loads what is there now. */
    BsonDocument refresh() {
        return change("could not be refreshed", mode(), rules().isHolder(), rules().refresh());
    }

    BsonDocument promote() {
        return change(
                "could not be promoted", DocumentLockMode.PESSIMISTIC_WRITE, rules().mayPromote(), rules().promote());
    }

    BsonDocument demote() {
        return change("could not be demoted", DocumentLockMode.PESSIMISTIC_READ, rules().isHolder(), rules().demote());
    }

    private BsonDocument change(String problem, DocumentLockMode mode, Bson test, List<BsonDocument> stages) {
        if (mode() == DocumentLockMode.NONE) {
            throw new IllegalStateException(name + " is not locked: load it with a lock first");
        }
        long start = System.nanoTime();
        Bson filter = Filters.and(Filters.eq(Mapping.ID, id), test);
        Optional<BsonDocument> changed = commands.change(filter, stages);
        if (changed.isEmpty()) {
            throw refused(problem);
        }
        granted(mode, start, changed.get());
        return changed.get();
    }

    /** A reader that is still there was refused because of others; whoever is not there has lost the lock. */
    private RuntimeException refused(String problem) {
        Bson isHolder = Filters.and(Filters.eq(Mapping.ID, id), rules().isHolder());
        if (commands.find(isHolder).isPresent()) {
            return new LockConflictedException(name, problem + ": others read it too");
        }
        boolean isNamed = commands.find(Filters.and(Filters.eq(Mapping.ID, id), rules().isNamed()))
                .isPresent();
        hold = NOTHING;
        LossReason reason = isNamed ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
        return new LockLostException(name, problem + ", it is no longer held", reason);
    }

    /** False: somebody else has had it since. Done also for one who was interrupted, for whom the driver sends nothing. */
    boolean release() {
        hold = NOTHING;
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

    private LockRules rules() {
        return new LockRules(token, ttl);
    }
}

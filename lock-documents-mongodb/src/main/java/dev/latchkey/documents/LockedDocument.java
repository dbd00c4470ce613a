package dev.latchkey.documents;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.latchkey.LockLostException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.conversions.Bson;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A document as it was loaded, and the lock it was loaded with, if any. Closing it releases the lock. Once any call has found
 * the lock lost, all writes throw. Failures of the server or the network are the driver's own {@link MongoException}.
 *
 * <p>Thread-safe: renewing, changing the mode and releasing wait for each other, writes do not wait for them.
 *
 * @param <T> the documents
 */
public final class LockedDocument<T> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LockedDocument.class);

    private final VersionedCollection<T> collection;
    private final DocumentLock lock;
    private final BsonDocument loaded;
    private final Closing closing;

    /** What becomes of the lock when this is closed. */
    private enum Closing {
        RELEASES,
        KEEPS
    }

    LockedDocument(VersionedCollection<T> collection, DocumentLock lock, BsonDocument loaded) {
        this(collection, lock, loaded, Closing.RELEASES);
    }

    private LockedDocument(VersionedCollection<T> collection, DocumentLock lock, BsonDocument loaded, Closing closing) {
        this.collection = collection;
        this.lock = lock;
        this.loaded = loaded;
        this.closing = closing;
    }

    /**
     * Returns the document as it was loaded: nobody has changed it while a lock is held.
     *
     * @return a new object with each call
     */
    public T document() {
        return collection.mapping().decode(loaded);
    }

    /**
     * Returns how the document is locked now.
     *
     * @return {@link DocumentLockMode#NONE} also after a release, a loss, or if it was loaded
     *     {@link DocumentLockMode#OPTIMISTIC}
     */
    public DocumentLockMode mode() {
        return lock.hold().mode();
    }

    /**
     * Returns how long the lock can be relied on. No I/O.
     *
     * @return zero if there is none, or if its lease may be over
     */
    public Duration remainingLifetime() {
        return Duration.ofNanos(lock.hold().remainingNanos());
    }

    /**
     * Returns the number of this write lock: greater than that of every one before on this document.
     *
     * @return the number
     * @throws IllegalStateException unless the document is locked for writing
     */
    public long fencingToken() {
        DocumentHold hold = lock.hold();
        if (hold.mode() != DocumentLockMode.PESSIMISTIC_WRITE) {
            throw new IllegalStateException(
                    lock.name() + " is not locked for writing: only a write lock has a fencing token");
        }
        return hold.fencingToken();
    }

    /**
     * Makes a filter for an update of any other document: it fits only if no later holder of this lock has
     * {@linkplain #stamp stamped} that one.
     *
     * @param field of the other document, for the tokens of this lock alone
     * @return to be put together with what says which document it is
     * @throws IllegalStateException unless the document is locked for writing
     */
    public Bson notOvertaken(String field) {
        return Filters.or(Filters.eq(field, null), Filters.lte(field, fencingToken()));
    }

    /**
     * Makes a part of an update of any other document: it keeps earlier holders of this lock from changing that one later.
     *
     * @param field as for {@link #notOvertaken}
     * @return to be put together with the change
     * @throws IllegalStateException unless the document is locked for writing
     */
    public Bson stamp(String field) {
        return Updates.max(field, fencingToken());
    }

    /**
     * Loads the document, has it changed, and saves it, while the lock is held, which is checked within the write. With a read
     * lock that is while nobody else reads. If it was loaded without a lock, it is as
     * {@link VersionedCollection#update(Object, UnaryOperator)}.
     *
     * @param change called once in each attempt, so without effects elsewhere; may change what it is given, or return another
     *     object with the same id
     * @return what became of it
     * @throws LockLostException if the lock is no longer held, or was found lost by any call before
     * @throws dev.latchkey.LockConflictedException if others read the document too
     * @throws IllegalStateException if the lock was given up
     * @throws InterruptedException while pausing; nothing was written then
     */
    public ChangeResult<T> update(UnaryOperator<T> change) throws InterruptedException {
        return lock.write(guard -> guarded(guard).update(Mapping.idOf(loaded), change));
    }

    /**
     * Changes the document by update operators, which may reach into what is embedded, while the lock is held.
     *
     * @param expected what the caller has seen
     * @param update operators such as {@link Updates} makes, none of which names the version
     * @return as it is stored
     * @throws OptimisticLockException if the stored one has another version
     * @throws LockLostException if the lock is no longer held, or was found lost by any call before
     * @throws dev.latchkey.LockConflictedException if others read the document too
     * @throws IllegalArgumentException if the update names the version, or has no operators
     * @throws IllegalStateException if the lock was given up
     */
    public T update(Version expected, Bson update) {
        return written(guard -> guarded(guard).update(Mapping.idOf(loaded), expected, update));
    }

    /**
     * Puts a document in the place of this one, while the lock is held. The version is checked as ever.
     *
     * @param document with the id of this one, and the version it had when it was loaded or returned
     * @return as it is stored
     * @throws OptimisticLockException if the stored one has another version
     * @throws LockLostException if the lock is no longer held, or was found lost by any call before
     * @throws dev.latchkey.LockConflictedException if others read the document too
     * @throws IllegalArgumentException if it has another id
     * @throws IllegalStateException if the lock was given up
     */
    public T replace(T document) {
        checkId(document);
        return written(guard -> guarded(guard).replace(document));
    }

    /**
     * Does as {@link #replace} and gives up the lock, both by one write. If that is refused the lock is held still; if it is
     * not answered the lock is believed to be given up, and {@link #close()} makes sure of it.
     *
     * @param document with the id of this one, and the version it had when it was loaded or returned
     * @return as it is stored
     * @throws OptimisticLockException if the stored one has another version
     * @throws LockLostException if the lock is no longer held, or was found lost by any call before
     * @throws dev.latchkey.LockConflictedException if others read the document too
     * @throws IllegalArgumentException if it has another id
     * @throws IllegalStateException if the lock was given up; also within a transaction, which may be aborted
     */
    public T saveAndRelease(T document) {
        checkId(document);
        checkNotInSession();
        return lock.writeAndRelease(
                Guard.Owner.After.RELEASED, guard -> guarded(guard).replace(document));
    }

    /**
     * Deletes the document, and the lock with it, while that is held.
     *
     * @param document with the id of this one, and the version it had when it was loaded or returned
     * @return false if it was gone already
     * @throws OptimisticLockException if the stored one has another version
     * @throws LockLostException if the lock is no longer held, or was found lost by any call before
     * @throws dev.latchkey.LockConflictedException if others read the document too
     * @throws IllegalArgumentException if it has another id
     * @throws IllegalStateException if the lock was given up; also within a transaction, which may be aborted
     */
    public boolean delete(T document) {
        checkId(document);
        checkNotInSession();
        return lock.writeAndRelease(
                Guard.Owner.After.KEPT, guard -> guarded(guard).delete(document));
    }

    /** The same lock, whose writes are part of a transaction. */
    LockedDocument<T> in(ClientSession session) {
        return new LockedDocument<>(collection.in(session), lock, loaded, Closing.KEEPS);
    }

    /** The same lock, for a unit of work that is no transaction. */
    LockedDocument<T> view() {
        return new LockedDocument<>(collection, lock, loaded, Closing.KEEPS);
    }

    private <R> R written(Function<Guard, R> write) {
        try {
            return lock.write(write::apply);
        } catch (InterruptedException e) {
            throw new IllegalStateException("a single write does not wait", e);
        }
    }

    /** Before anything is given up: also that it has an id and a version. */
    private void checkId(T document) {
        BsonDocument encoded = collection.mapping().encode(document);
        Optional<Version> unused = collection.mapping().version(encoded);
        if (!Ids.areSame(Mapping.idOf(encoded), Mapping.idOf(loaded))) {
            throw new IllegalArgumentException(
                    lock.name() + " is locked: the lock is no right to write another document");
        }
    }

    private void checkNotInSession() {
        if (collection.commands().isInSession()) {
            throw new IllegalStateException(
                    lock.name() + ": its lock cannot be changed within a transaction, which may be aborted");
        }
    }

    private VersionedCollection<T> guarded(Guard guard) {
        return collection.guardedBy(guard);
    }

    /**
     * Begins the lease anew.
     *
     * @return the document as it is now
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held, or within a transaction
     */
    public T refresh() {
        checkNotInSession();
        return collection.mapping().decode(lock.refresh());
    }

    /**
     * Makes a write lock of a read lock, without a gap, and begins the lease anew.
     *
     * @return the document as it is now
     * @throws dev.latchkey.LockConflictedException if others have read locks; this one is kept as it is. Also after a demotion
     *     that was not answered, which the server may still do
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held, or within a transaction
     */
    public T promote() {
        checkNotInSession();
        return collection.mapping().decode(lock.promote());
    }

    /**
     * Makes a read lock of a write lock, without a gap, and begins the lease anew. If no answer comes, it is a read lock from
     * then on.
     *
     * @return the document as it is now
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held, or within a transaction
     */
    public T demote() {
        checkNotInSession();
        return collection.mapping().decode(lock.demote());
    }

    /**
     * Gives up the lock. Never that of somebody else.
     *
     * @return false if there was none any more: given up, not relied on any more since its lease is over, taken over, or gone
     *     with the document
     * @throws IllegalStateException within a transaction
     */
    public boolean release() {
        checkNotInSession();
        return lock.hold().mayBeThere() && lock.release().isEmpty();
    }

    /**
     * Gives up the lock, if there is one. If the server cannot be reached that is logged, and the lease ends it. Does nothing
     * to a view that a {@link UnitOfWork} has made.
     *
     * @throws LockLostException if the lock was lost and no call has told so: its lease is over, or somebody else took or
     *     removed it, so that what was done since may have overlapped
     */
    @Override
    public void close() {
        if (closing == Closing.KEEPS) {
            return;
        }
        giveBack().ifPresent(lost -> {
            throw lost;
        });
    }

    /** Returns what the holder must be told. */
    Optional<LockLostException> giveBack() {
        try {
            return lock.release();
        } catch (MongoException e) {
            log.warn("document.release.failed document={}: its lease ends it", lock.name(), e);
            return Optional.empty();
        }
    }

    /** Returns which document it is, and how it is locked. */
    @Override
    public String toString() {
        return "LockedDocument[" + lock.name() + ", " + mode() + "]";
    }
}

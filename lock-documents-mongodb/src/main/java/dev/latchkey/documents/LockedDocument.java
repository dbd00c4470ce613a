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
 * A loaded document, and the lock with which it was loaded, if any. Closing it releases the lock. After any call has
 * found that the lock was lost, all writes throw. Failures of the server or the network are thrown as the driver's own
 * {@link MongoException}.
 *
 * <p>Thread-safe. Refreshing, changing the mode and releasing wait for one another; writes do not wait for them.
 *
 * @param <T> the type of the documents
 */
public final class LockedDocument<T> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LockedDocument.class);

    private final VersionedCollection<T> collection;
    private final DocumentLock lock;
    private final BsonDocument loaded;
    private final Closing closing;

    /** What {@link #close()} does with the lock. */
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
     * Returns the document as it was loaded. Nobody changes it while a lock is held.
     *
     * @return a new object for each call
     */
    public T document() {
        return collection.mapping().decode(loaded);
    }

    /**
     * Returns the current mode of the lock.
     *
     * @return {@link DocumentLockMode#NONE} if there is no lock: also after a release or a loss, and if it was loaded
     *     with {@link DocumentLockMode#OPTIMISTIC}
     */
    public DocumentLockMode mode() {
        return lock.hold().mode();
    }

    /**
     * Returns how long the lock can be relied on, without a request to the server.
     *
     * @return zero if there is no lock, or if its lease may be over
     */
    public Duration remainingLifetime() {
        return Duration.ofNanos(lock.hold().remainingNanos());
    }

    /**
     * Returns the fencing token of this write lock: a number greater than that of every earlier write lock on this
     * document.
     *
     * @return the token
     * @throws IllegalStateException if the document is not locked for writing
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
     * Returns a filter for an update of any other document. It matches only if no later holder of this lock has
     * {@linkplain #stamp stamped} that document.
     *
     * @param field a field of the other document that contains only tokens of this lock
     * @return a filter to combine with the one that selects the document
     * @throws IllegalStateException if the document is not locked for writing
     */
    public Bson notOvertaken(String field) {
        return Filters.or(Filters.eq(field, null), Filters.lte(field, fencingToken()));
    }

    /**
     * Returns a part of an update of any other document. It prevents earlier holders of this lock from changing that
     * document later.
     *
     * @param field a field of the other document that contains only tokens of this lock
     * @return an update to combine with the change
     * @throws IllegalStateException if the document is not locked for writing
     */
    public Bson stamp(String field) {
        return Updates.max(field, fencingToken());
    }

    /**
     * Loads the document, changes it, and saves it while the lock is held. The write itself checks the lock. With a read
     * lock, the write requires that nobody else has a read lock. If the document was loaded without a lock, this is
     * {@link VersionedCollection#update(Object, UnaryOperator)}.
     *
     * @param change called once in each attempt, so it must not have side effects; it may change its argument, or return
     *     another object with the same id
     * @return the result
     * @throws LockLostException if the lock is no longer held, or an earlier call found that it was lost
     * @throws dev.latchkey.LockConflictedException if others have read locks, too
     * @throws IllegalStateException if the lock was released
     * @throws InterruptedException if the thread was interrupted during a pause between attempts; nothing was written
     */
    public ChangeResult<T> update(UnaryOperator<T> change) throws InterruptedException {
        return lock.write(guard -> guarded(guard).update(Mapping.idOf(loaded), change));
    }

    /**
     * Changes the document with update operators while the lock is held. They may change embedded documents.
     *
     * @param expected the version that the caller has loaded
     * @param update operators, for example from {@link Updates}, that do not change the version
     * @return the document as stored
     * @throws OptimisticLockException if the stored document has another version
     * @throws LockLostException if the lock is no longer held, or an earlier call found that it was lost
     * @throws dev.latchkey.LockConflictedException if others have read locks, too
     * @throws IllegalArgumentException if the update changes the version, or has no operators
     * @throws IllegalStateException if the lock was released
     */
    public T update(Version expected, Bson update) {
        return written(guard -> guarded(guard).update(Mapping.idOf(loaded), expected, update));
    }

    /**
     * Replaces the document while the lock is held. The version is checked as usual.
     *
     * @param document a document with the same id, and with the version it had when it was loaded or returned
     * @return the document as stored
     * @throws OptimisticLockException if the stored document has another version
     * @throws LockLostException if the lock is no longer held, or an earlier call found that it was lost
     * @throws dev.latchkey.LockConflictedException if others have read locks, too
     * @throws IllegalArgumentException if the document has another id
     * @throws IllegalStateException if the lock was released
     */
    public T replace(T document) {
        checkId(document);
        return written(guard -> guarded(guard).replace(document));
    }

    /**
     * Replaces the document and releases the lock in a single write. If the write is refused, the lock stays held. If it
     * is not answered, the lock counts as released, and {@link #close()} makes sure of it.
     *
     * @param document a document with the same id, and with the version it had when it was loaded or returned
     * @return the document as stored
     * @throws OptimisticLockException if the stored document has another version
     * @throws LockLostException if the lock is no longer held, or an earlier call found that it was lost
     * @throws dev.latchkey.LockConflictedException if others have read locks, too
     * @throws IllegalArgumentException if the document has another id
     * @throws IllegalStateException if the lock was released, or within a transaction, which may be aborted
     */
    public T saveAndRelease(T document) {
        checkId(document);
        checkNotInSession();
        return lock.writeAndRelease(
                Guard.Owner.After.RELEASED, guard -> guarded(guard).replace(document));
    }

    /**
     * Deletes the document together with its lock, while the lock is held.
     *
     * @param document a document with the same id, and with the version it had when it was loaded or returned
     * @return false if the document was deleted already
     * @throws OptimisticLockException if the stored document has another version
     * @throws LockLostException if the lock is no longer held, or an earlier call found that it was lost
     * @throws dev.latchkey.LockConflictedException if others have read locks, too
     * @throws IllegalArgumentException if the document has another id
     * @throws IllegalStateException if the lock was released, or within a transaction, which may be aborted
     */
    public boolean delete(T document) {
        checkId(document);
        checkNotInSession();
        return lock.writeAndRelease(
                Guard.Owner.After.KEPT, guard -> guarded(guard).delete(document));
    }

    /** Returns the same lock, with writes that are part of a transaction. */
    LockedDocument<T> in(ClientSession session) {
        return new LockedDocument<>(collection.in(session), lock, loaded, Closing.KEEPS);
    }

    /** Returns the same lock, for a unit of work that is not a transaction. */
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

    /** Checks the document before anything is released, including its id and version. */
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
     * Starts the lease again.
     *
     * @return the current document
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if there was no lock, or within a transaction
     */
    public T refresh() {
        checkNotInSession();
        return collection.mapping().decode(lock.refresh());
    }

    /**
     * Turns a read lock into a write lock without a gap, and starts the lease again.
     *
     * @return the current document
     * @throws dev.latchkey.LockConflictedException if others have read locks; this lock does not change. Also after a
     *     demotion that was not answered, which the server may still execute
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if there was no lock, or within a transaction
     */
    public T promote() {
        checkNotInSession();
        return collection.mapping().decode(lock.promote());
    }

    /**
     * Turns a write lock into a read lock without a gap, and starts the lease again. If there is no answer, the lock
     * counts as a read lock from then on.
     *
     * @return the current document
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if there was no lock, or within a transaction
     */
    public T demote() {
        checkNotInSession();
        return collection.mapping().decode(lock.demote());
    }

    /**
     * Releases the lock, but never one of somebody else.
     *
     * @return false if there was no lock any more: it was released, its lease is over, somebody else took it, or the
     *     document was deleted
     * @throws IllegalStateException within a transaction
     */
    public boolean release() {
        checkNotInSession();
        return lock.hold().mayBeThere() && lock.release().isEmpty();
    }

    /**
     * Releases the lock, if there is one. If the server cannot be reached, this is logged, and the lock ends with its
     * lease. Does nothing for a view that a {@link UnitOfWork} has created.
     *
     * @throws LockLostException if the lock was lost and no call has reported it: its lease is over, or somebody else
     *     took or removed it, so other writers may have worked at the same time
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
            log.warn("document.release_failed document={}", lock.name(), e);
            return Optional.empty();
        }
    }

    /** Returns the name of the document and the mode of its lock. */
    @Override
    public String toString() {
        return "LockedDocument[" + lock.name() + ", " + mode() + "]";
    }
}

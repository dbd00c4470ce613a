package dev.latchkey.documents;

import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.conversions.Bson;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A document as it was loaded, and the lock it was loaded with, if any. Closing it releases the lock. Failures of the server
 * or the network are the driver's own {@link MongoException}. Thread-safe.
 *
 * @param <T> the documents
 */
public final class LockedDocument<T> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LockedDocument.class);

    private final VersionedCollection<T> collection;
    private final DocumentLock lock;
    private final BsonDocument loaded;
    private volatile boolean isGivenUpByWrite;

    LockedDocument(VersionedCollection<T> collection, DocumentLock lock, BsonDocument loaded) {
        this.collection = collection;
        this.lock = lock;
        this.loaded = loaded;
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
        return lock.mode();
    }

    /**
     * Returns how long the lock can be relied on. No I/O.
     *
     * @return zero if there is none, or if its lease may be over
     */
    public Duration remainingLifetime() {
        return Duration.ofNanos(lock.remainingNanos());
    }

    /**
     * Returns the number of this write lock: greater than that of every one before on this document.
     *
     * @return the number
     * @throws IllegalStateException unless the document is locked for writing
     */
    public long fencingToken() {
        if (mode() != DocumentLockMode.PESSIMISTIC_WRITE) {
            throw new IllegalStateException(
                    lock.name() + " is not locked for writing: only a write lock has a fencing token");
        }
        return lock.fencingToken();
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
     * Returns the collection for the owner of this lock: its writes happen only while the lock is held, which is checked
     * within each write. With a read lock they happen while nobody else reads. Without a lock it is the plain collection.
     *
     * <p>A write that is refused because the lock is no longer held throws {@link LockLostException}; one of a reader among
     * others, {@link dev.latchkey.LockConflictedException}. Versions are checked as ever.
     *
     * @return a view, of which only the document of this lock can be written
     */
    public VersionedCollection<T> writes() {
        return mode() == DocumentLockMode.NONE ? collection : guarded(Guard.Owner.keeping(lock.token()));
    }

    /**
     * Returns the collection as {@link #writes()} does, but each write gives up the lock together with what it changes.
     *
     * @return a view for one last write of the document
     */
    public VersionedCollection<T> lastWrite() {
        if (mode() == DocumentLockMode.NONE) {
            return collection;
        }
        isGivenUpByWrite = true;
        return guarded(Guard.Owner.releasing(lock.token()));
    }

    private VersionedCollection<T> guarded(Guard guard) {
        return collection.guardedBy(guard);
    }

    /**
     * Begins the lease anew.
     *
     * @return the document as it is now
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held
     */
    public T refresh() {
        return collection.mapping().decode(lock.refresh());
    }

    /**
     * Makes a write lock of a read lock, without a gap, and begins the lease anew.
     *
     * @return the document as it is now
     * @throws dev.latchkey.LockConflictedException if others have read locks; this one is kept as it is
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held
     */
    public T promote() {
        return collection.mapping().decode(lock.promote());
    }

    /**
     * Makes a read lock of a write lock, without a gap, and begins the lease anew.
     *
     * @return the document as it is now
     * @throws LockLostException if the lock is no longer held
     * @throws IllegalStateException if none was held
     */
    public T demote() {
        return collection.mapping().decode(lock.demote());
    }

    /**
     * Gives up the lock. Never that of somebody else.
     *
     * @return false if there was none any more: given up, taken over after its lease, or gone with the document
     */
    public boolean release() {
        return lock.mode() != DocumentLockMode.NONE && lock.release();
    }

    /**
     * Gives up the lock, if there is one. If the server cannot be reached that is logged, and the lease ends it.
     *
     * @throws LockLostException if somebody else took it after its lease: what was done since may have overlapped
     */
    @Override
    public void close() {
        boolean wasOver = lock.mode() != DocumentLockMode.NONE && lock.remainingNanos() == 0;
        if (!giveBack() && wasOver && !isGivenUpByWrite) {
            throw new LockLostException(lock.name(), "found lost when closed", LossReason.TAKEN_OVER);
        }
    }

    /** False: it was not there any more. */
    boolean giveBack() {
        try {
            return release();
        } catch (MongoException e) {
            log.warn("document.release.failed document={}: its lease ends it", lock.name(), e);
            return true;
        }
    }

    /** Returns which document it is, and how it is locked. */
    @Override
    public String toString() {
        return "LockedDocument[" + lock.name() + ", " + mode() + "]";
    }
}

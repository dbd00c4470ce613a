package dev.latchkey.documents;

import dev.latchkey.LockConflictedException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Loads documents together with a lock, which is stored in the document: a single command does both. A lock has an owner,
 * and only the owner can refresh and release it. It also has a lease, after which the lock is free. The server's clock
 * decides; on a sharded cluster, the clock of each {@code mongos}, so the collection must
 * {@linkplain VersionedCollection.Builder#allowedClockSkew know} by how much these may differ.
 *
 * <pre>{@code
 * DocumentLocks<Document> locks = new DocumentLocks<>(posts, Duration.ofSeconds(30));
 * try (LockedDocument<Document> post =
 *         locks.find(42, DocumentLockMode.PESSIMISTIC_WRITE, Duration.ofSeconds(5)).orElseThrow()) {
 *     post.update(document -> document.append("title", "New"));
 * }
 * }</pre>
 *
 * <p>While somebody holds a lock, the writes of every {@link VersionedCollection} on the same collection are refused,
 * except those of the owner through {@link LockedDocument}. Writes that do not use this module are not refused.
 *
 * <p>Nobody waits while holding a lock: to lock several documents, use {@link #findAll}. Failures of the server or the
 * network are thrown as the driver's own {@link com.mongodb.MongoException}. What may have been granted then is given
 * back if possible, and ends with its lease in any case.
 *
 * <p>Thread-safe.
 *
 * @param <T> the type of the documents
 */
public final class DocumentLocks<T> {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final VersionedCollection<T> collection;
    private final Duration ttl;

    /**
     * Creates locks for the documents of a collection.
     *
     * @param collection the collection whose writes respect these locks
     * @param ttl the length of a lease, from 10 ms to 100 years: longer than the work, or than the time between two
     *     refreshes
     * @throws IllegalArgumentException if the TTL is out of range, or the collection is a view within a session
     */
    public DocumentLocks(VersionedCollection<T> collection, Duration ttl) {
        if (ttl.compareTo(Duration.ofMillis(10)) < 0 || ttl.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "a TTL of " + ttl + " is out of range: it must be from PT0.01S to " + LONGEST);
        }
        if (collection.commands().isInSession()) {
            throw new IllegalArgumentException(
                    "the collection is a view within a session: a lock would vanish with an aborted transaction, take it before");
        }
        this.collection = collection;
        this.ttl = ttl;
    }

    /**
     * Loads a document and locks it in the given mode, without waiting.
     *
     * @param id an id of any type for which the collection has a codec
     * @param mode the mode of the lock
     * @return empty if the document does not exist
     * @throws LockConflictedException if somebody else holds a lock that conflicts with the mode
     * @throws IllegalStateException if the mode is {@link DocumentLockMode#OPTIMISTIC} and the document has no version
     */
    public Optional<LockedDocument<T>> find(Object id, DocumentLockMode mode) {
        BsonValue bsonId = collection.id(id);
        DocumentLock lock = lock(bsonId);
        Optional<BsonDocument> found = load(lock, mode);
        return found.map(document -> new LockedDocument<>(collection, lock, document));
    }

    private DocumentLock lock(BsonValue id) {
        return new DocumentLock(
                collection.commands().durable(), id, collection.mapping().name(id), ttl, collection.allowedClockSkew());
    }

    private Optional<BsonDocument> load(DocumentLock lock, DocumentLockMode mode) {
        Optional<BsonDocument> loaded = switch (mode) {
            case NONE, OPTIMISTIC -> lock.read();
            case PESSIMISTIC_READ, PESSIMISTIC_WRITE -> lock.take(mode);
        };
        if (mode == DocumentLockMode.OPTIMISTIC) {
            loaded.ifPresent(this::checkVersioned);
        }
        return loaded;
    }

    private void checkVersioned(BsonDocument document) {
        if (collection.mapping().version(document).isEmpty()) {
            throw new IllegalStateException(collection.mapping().name(Mapping.idOf(document)) + " has no version in \""
                    + collection.mapping().versionField()
                    + "\": a change of it cannot be checked. Save it once, or load it with a lock");
        }
    }

    /**
     * Loads a document and locks it in the given mode, and waits while somebody else holds its lock.
     *
     * @param id an id of any type for which the collection has a codec
     * @param mode the mode of the lock
     * @param maxWait how long to try; zero tries once
     * @return empty if the document does not exist
     * @throws LockConflictedException if somebody else still held the lock after {@code maxWait}
     * @throws IllegalStateException if the mode is {@link DocumentLockMode#OPTIMISTIC} and the document has no version
     * @throws InterruptedException if the thread was interrupted during a pause between two attempts; nothing is held
     */
    public Optional<LockedDocument<T>> find(Object id, DocumentLockMode mode, Duration maxWait)
            throws InterruptedException {
        Retry.Attempts attempts = Retry.within(maxWait).start();
        while (true) {
            try {
                return find(id, mode);
            } catch (LockConflictedException e) {
                if (!attempts.again()) {
                    throw e;
                }
            }
        }
    }

    /**
     * Loads several documents and locks all of them or none. If one cannot be locked, none is held, so callers that want
     * the same documents in different orders never wait for one another.
     *
     * @param ids ids of any type for which the collection has a codec; a duplicate counts once, and numbers of different
     *     types with the same value are the same id
     * @param mode the mode of the locks
     * @param maxWait how long to try; zero tries once
     * @return the documents, in the order of the ids; each lease starts when its document was locked
     * @throws NoSuchElementException if a document does not exist; none is held
     * @throws LockConflictedException if somebody else still held one of the locks after {@code maxWait}; none is held
     * @throws InterruptedException if the thread was interrupted during a pause between two attempts; none is held
     */
    public LockedDocuments<T> findAll(Collection<?> ids, DocumentLockMode mode, Duration maxWait)
            throws InterruptedException {
        Map<String, BsonValue> wanted = new LinkedHashMap<>();
        ids.stream().map(collection::id).forEach(id -> wanted.putIfAbsent(Ids.key(id), id));
        Retry.Attempts attempts = Retry.within(maxWait).start();
        while (true) {
            try {
                return new LockedDocuments<>(tryAll(wanted, mode));
            } catch (LockConflictedException e) {
                if (!attempts.again()) {
                    throw e;
                }
            }
        }
    }

    /** Uses one order for all callers, so that of two that want the same documents one gets them at the first attempt. */
    private List<LockedDocument<T>> tryAll(Map<String, BsonValue> wanted, DocumentLockMode mode) {
        Map<String, LockedDocument<T>> held = new HashMap<>();
        boolean hasAll = false;
        try {
            for (Map.Entry<String, BsonValue> one : new TreeMap<>(wanted).entrySet()) {
                BsonValue id = one.getValue();
                held.put(
                        one.getKey(),
                        find(id, mode)
                                .orElseThrow(() -> new NoSuchElementException(
                                        collection.mapping().name(id)
                                                + " does not exist: none of the documents is locked")));
            }
            hasAll = true;
        } finally {
            if (!hasAll) {
                held.values().forEach(LockedDocument::giveBack);
            }
        }
        return wanted.keySet().stream()
                .map(key -> Objects.requireNonNull(held.get(key)))
                .toList();
    }
}

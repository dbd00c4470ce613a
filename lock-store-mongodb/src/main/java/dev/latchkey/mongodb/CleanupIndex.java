package dev.latchkey.mongodb;

import dev.latchkey.LockStorageException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index by which the server deletes documents that have not been used for long. Each store creates it once, after a release:
 * no lease runs in the meantime, and no hold depends on the index.
 */
final class CleanupIndex {

    /** Who creates the index. */
    enum Owner {
        STORE,
        APPLICATION
    }

    private static final Logger log = LoggerFactory.getLogger(MongoDbStore.class);

    private final LockCommands documents;
    private final AtomicBoolean isDue;

    CleanupIndex(LockCommands documents, Owner owner) {
        this.documents = documents;
        this.isDue = new AtomicBoolean(owner == Owner.STORE);
    }

    void create() {
        documents.createIndex();
        isDue.set(false);
    }

    void createIfDue() {
        if (isDue.getAndSet(false)) {
            try {
                documents.createIndex();
            } catch (LockStorageException e) {
                log.warn("lock.index_failed problem={}", e.getMessage());
            }
        }
    }
}

package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;

/**
 * A store, and how transactions make sure of its locks.
 *
 * @param end ends what the store was opened with, after it
 */
record OpenStore(PersistingStore store, CommitCheck commitCheck, Runnable end) {

    static OpenStore of(PersistingStore store) {
        return new OpenStore(store, CommitCheck.BY_THE_STORE, () -> {});
    }
}

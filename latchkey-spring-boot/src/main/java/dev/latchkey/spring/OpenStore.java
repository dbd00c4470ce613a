package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;

/** A store, and how transactions make sure of its locks. */
record OpenStore(PersistingStore store, CommitCheck commitCheck) {

    static OpenStore of(PersistingStore store) {
        return new OpenStore(store, CommitCheck.BY_THE_STORE);
    }
}

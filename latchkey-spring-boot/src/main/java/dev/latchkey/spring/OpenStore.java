package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;

/**
 * A store, and what it was opened with.
 *
 * @param end ends what the store was opened with, after it
 */
record OpenStore(PersistingStore store, Runnable end) {

    static OpenStore of(PersistingStore store) {
        return new OpenStore(store, () -> {});
    }
}

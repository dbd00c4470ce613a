package dev.latchkey.testkit.planted;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.NullStore;

final class UserOfOtherStore {

    PersistingStore other() {
        return new NullStore();
    }
}

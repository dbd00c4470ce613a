package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;

class InMemoryLockProviderTest extends LockProviderContract {

    private final InMemoryStore store = new InMemoryStore();

    @Override
    LockFactory connect() {
        return new LockFactory(store);
    }
}

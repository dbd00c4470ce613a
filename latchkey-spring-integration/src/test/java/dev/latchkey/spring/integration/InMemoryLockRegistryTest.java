package dev.latchkey.spring.integration;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;

class InMemoryLockRegistryTest extends LockRegistryContract {

    private final InMemoryStore store = new InMemoryStore();

    @Override
    LockFactory connect() {
        return new LockFactory(store);
    }
}

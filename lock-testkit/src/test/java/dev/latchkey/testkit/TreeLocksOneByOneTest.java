package dev.latchkey.testkit;

import dev.latchkey.spi.PersistingStore;

/** Locks on trees over a store that takes one resource at a time. */
class TreeLocksOneByOneTest implements TreeLeaseContract, TreeSavepointContract {

    private final PersistingStore store = new OneByOneStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new OneByOneStore();
    }
}

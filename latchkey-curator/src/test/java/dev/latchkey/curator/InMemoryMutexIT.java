package dev.latchkey.curator;

import dev.latchkey.LockFactory;

class InMemoryMutexIT extends CuratorMutexContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect("in-memory");
    }
}

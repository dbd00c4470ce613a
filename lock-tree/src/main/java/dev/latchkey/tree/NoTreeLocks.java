package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** The editor of a tree that is edited without locks. */
enum NoTreeLocks implements TreeEditor {
    INSTANCE;

    @Override
    public void acquire(TreeRequest request) {}

    @Override
    public void acquire(TreeRequest request, Duration maxWait) {}

    @Override
    public boolean holdsExclusive(String id) {
        return false;
    }

    @Override
    public boolean holdsShared(String id) {
        return false;
    }

    @Override
    public void checkExclusive(String id) {}

    @Override
    public void checkShared(String id) {}

    @Override
    public Map<String, LockMode> held() {
        return Map.of();
    }

    @Override
    public TreeSavepoint savepoint() {
        return new TreeSavepoint("savepoint of a tree without locks");
    }

    @Override
    public void rollback(TreeSavepoint savepoint) {}

    @Override
    public void reinstate(TreeSavepoint savepoint) {}

    @Override
    public void pulled(long index) {}

    @Override
    public void pushed(long index) {}

    @Override
    public void pushedRetaining(long index) {}

    @Override
    public void releaseAll() {}

    @Override
    public void refresh() {}

    @Override
    public void onLost(Consumer<? super LossReason> listener) {}

    @Override
    public void close() {}
}

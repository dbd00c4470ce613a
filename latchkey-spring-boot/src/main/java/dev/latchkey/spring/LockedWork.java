package dev.latchkey.spring;

import dev.latchkey.LockConflictedException;
import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs work in the current thread under a lock. */
record LockedWork<T extends @Nullable Object, X extends Throwable>(
        Acquirer acquirer, String resource, LockSettings settings) {

    /** Looked for once per class: every call asks. */
    private static final ClassValue<Boolean> PENDING = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return ResultKind.isPending(type);
        }
    };

    /** Runs it under a new hold, or under that which the thread has already. */
    T run(LockTemplate.Call<T, X> work, Supplier<T> skipped) throws X {
        HeldLock outer = HeldLocks.find(acquirer, resource);
        if (outer != null) {
            checkCovered(outer);
            return runNested(work, outer);
        }
        HeldLock held = acquire(Acquirer.OnLoss.INTERRUPTS);
        return held == null ? skipped.get() : run(work, held);
    }

    private T runNested(LockTemplate.Call<T, X> work, HeldLock outer) throws X {
        outer.beginUse();
        try {
            return work.call();
        } finally {
            outer.endUse();
        }
    }

    private void checkCovered(HeldLock outer) {
        if (outer.mode() == LockMode.SHARED && settings.mode() == LockMode.EXCLUSIVE) {
            throw new IllegalStateException(
                    "lock \"" + resource + "\": this thread holds it shared, and waits for itself if it"
                            + " wants it exclusively: have the outer call take it exclusively");
        }
        outer.checkNotLost();
    }

    /** An interrupt is for those who declare that they can be interrupted: here it ends the wait, and stays set. */
    @Nullable HeldLock acquire(Acquirer.OnLoss onLoss) {
        try {
            return acquirer.acquire(resource, settings, onLoss);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            LockConflictedException ended =
                    new LockConflictedException(resource, "interrupted while waiting", Reason.CLOSED_WHILE_WAITING);
            ended.addSuppressed(e);
            throw ended;
        }
    }

    private T run(LockTemplate.Call<T, X> work, HeldLock held) throws X {
        boolean isLeftToTransaction = begin(held);
        held.beginUse();
        T result;
        try {
            result = work.call();
            checkEnded(result);
        } catch (Throwable e) {
            if (!isLeftToTransaction) {
                endFailed(held, e);
            }
            throw e;
        } finally {
            held.endUse();
        }
        if (isLeftToTransaction) {
            held.checkNotLost();
        } else {
            end(held);
        }
        return result;
    }

    private void checkEnded(@Nullable Object result) {
        boolean isDone = result instanceof Future<?> future && future.isDone();
        if (result != null && !isDone && PENDING.get(result.getClass())) {
            throw new IllegalStateException("lock \"" + resource + "\": the work has returned a "
                    + result.getClass().getSimpleName()
                    + ", which may go on after the release: return it from a method with @Locked that is declared to return a"
                    + " CompletableFuture, a Mono or a Flux, or wait for it under the lock");
        }
    }

    /** Tells whether the release is left to the end of a transaction that was there before. */
    private boolean begin(HeldLock held) {
        HeldLocks.add(held);
        try {
            return Transactions.IS_PRESENT && TransactionHooks.endWithTransaction(() -> endLate(held));
        } catch (Throwable e) {
            endFailed(held, e);
            throw e;
        }
    }

    private void end(HeldLock held) {
        HeldLocks.remove(held);
        if (!acquirer.release(held)) {
            throw held.lost("it was lost before the work under it had ended");
        }
    }

    private void endFailed(HeldLock held, Throwable failure) {
        HeldLocks.remove(held);
        if (!acquirer.release(held) && !(failure instanceof LockLostException)) {
            failure.addSuppressed(held.lost("it was lost while the work under it failed"));
        }
    }

    /** The transaction has ended: nobody can be told any more. */
    private void endLate(HeldLock held) {
        HeldLocks.remove(held);
        boolean unused = acquirer.release(held);
    }
}

package dev.latchkey.spring;

import dev.latchkey.LockLostException;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Holds a lock until the stage that a method returns has completed. */
record LockedStage(Acquirer acquirer, String resource, LockSettings settings) {

    @Nullable Object run(MethodInvocation call, ResultKind kind) throws Throwable {
        if (HeldLocks.find(acquirer, resource) != null) {
            throw new IllegalStateException(
                    "lock \"" + resource + "\": this thread holds it, and would release it before what is"
                            + " to run later under it has ended: call it without the outer lock, or wait for it inside of a method"
                            + " that returns no stage");
        }
        if (Transactions.IS_PRESENT && TransactionHooks.isInTransaction()) {
            throw new IllegalStateException(
                    "lock \"" + resource + "\": a transaction is under way that may end after the stage, and"
                            + " with it the lock: call it outside of the transaction");
        }
        HeldLock held = new LockedWork<@Nullable Object, Throwable>(acquirer, resource, settings)
                .acquire(Acquirer.OnLoss.IS_ONLY_KNOWN);
        return held == null ? kind.skipped() : run(call, held);
    }

    private @Nullable Object run(MethodInvocation call, HeldLock held) throws Throwable {
        HeldLocks.add(held);
        Object result;
        try {
            result = call.proceed();
        } catch (Throwable e) {
            if (!acquirer.release(held) && !(e instanceof LockLostException)) {
                e.addSuppressed(held.lost("it was lost while the work under it failed"));
            }
            throw e;
        } finally {
            HeldLocks.remove(held);
        }
        if (result instanceof CompletionStage<?> stage) {
            return releasing(stage, held);
        }
        checkReleased(held);
        return result;
    }

    /**
     * Others see the end of the work no sooner than the lock is free. What they get is another stage than that which releases:
     * one that they have cancelled would not. The thread that completes the work may be one that reads the answers of the store, and
     * does not wait for one.
     */
    private CompletionStage<?> releasing(CompletionStage<?> stage, HeldLock held) {
        return stage.whenCompleteAsync(
                        (result, failure) -> {
                            boolean wasHeld = acquirer.release(held);
                            if (!wasHeld && failure == null) {
                                throw held.lost("it was lost before the work under it had ended");
                            }
                        },
                        BlockingThreads::run)
                .thenApply(result -> result);
    }

    private void checkReleased(HeldLock held) {
        if (!acquirer.release(held)) {
            throw held.lost("it was lost before the work under it had ended");
        }
    }
}

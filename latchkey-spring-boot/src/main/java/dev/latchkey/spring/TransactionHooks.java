package dev.latchkey.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Ties locks to transactions of the thread: none is committed unless what the thread works under is held then, and what was
 * taken in a transaction is released after it.
 */
final class TransactionHooks implements TransactionExecutionListener {

    /** For each transaction that begins. */
    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        if (failure == null && !HeldLocks.all().isEmpty()) {
            checkBeforeCommit();
        }
    }

    /** Tells whether there is a transaction, at whose end the given is run then. */
    static boolean endWithTransaction(Runnable end) {
        if (!isInTransaction()) {
            return false;
        }
        checkBeforeCommit();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int status) {
                end.run();
            }
        });
        return true;
    }

    static boolean isInTransaction() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive();
    }

    private static void checkBeforeCommit() {
        if (TransactionSynchronizationManager.isSynchronizationActive()
                && TransactionSynchronizationManager.getSynchronizations().stream()
                        .noneMatch(CheckBeforeCommit.class::isInstance)) {
            TransactionSynchronizationManager.registerSynchronization(new CheckBeforeCommit());
        }
    }

    /** Runs last, so that nobody can refresh or release what it guards for as short a time as possible. */
    private static final class CheckBeforeCommit implements TransactionSynchronization {

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            for (HeldLock held : List.copyOf(HeldLocks.all())) {
                if (readOnly) {
                    held.checkNotLost();
                } else {
                    held.checkBeforeCommit();
                }
            }
        }
    }
}

package dev.latchkey.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Ties locks to transactions of the thread: none is committed unless what the thread works under is held then, and what was
 * taken in a transaction is released after it.
 */
final class TransactionHooks implements TransactionExecutionListener {

    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
        if (failure == null && TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.registerSynchronization(new Listened());
        }
    }

    /** Runs last, after all synchronizations: they may take long, and write. */
    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (transaction.isNewTransaction()) {
            check(transaction.isReadOnly(), known(transaction));
        }
    }

    private static @Nullable Object known(TransactionExecution transaction) {
        return transaction instanceof DefaultTransactionStatus status && status.hasTransaction()
                ? status.getTransaction()
                : null;
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

    /** For the transactions of managers that are not beans, which have no listener. */
    private static void checkBeforeCommit() {
        if (TransactionSynchronizationManager.getSynchronizations().stream().noneMatch(Checked.class::isInstance)) {
            TransactionSynchronizationManager.registerSynchronization(new CheckBeforeCommit());
        }
    }

    private static void check(boolean readOnly, @Nullable Object transaction) {
        for (HeldLock held : List.copyOf(HeldLocks.all())) {
            if (readOnly) {
                held.checkNotLost();
            } else {
                held.checkBeforeCommit(transaction);
            }
        }
    }

    /** Is registered in a transaction whose commit is checked. */
    private sealed interface Checked extends TransactionSynchronization {}

    private static final class Listened implements Checked {}

    private static final class CheckBeforeCommit implements Checked {

        @Override
        public int getOrder() {
            return LOWEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            check(readOnly, null);
        }
    }
}

package dev.latchkey.documents;

import com.mongodb.MongoInterruptedException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A daemon thread that finishes transactions which other workers have left, until it is closed. Thread-safe. */
public final class RecoveryWorker implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RecoveryWorker.class);

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "latchkey-transaction-recovery");
        made.setDaemon(true);
        return made;
    });

    private final Future<?> repetition;

    RecoveryWorker(TwoPhaseTransactions transactions, Duration pause) {
        repetition =
                thread.scheduleWithFixedDelay(() -> recover(transactions), 0, pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Catches everything, because an exception would end the repetition. */
    private static void recover(TwoPhaseTransactions transactions) {
        try {
            transactions.recover().forEach(outcome -> log.debug("transaction.recovered outcome={}", outcome));
        } catch (MongoInterruptedException e) {
            // The worker is being closed: the executor sees the flag, which the driver has set again.
            log.debug("transaction.recovery_interrupted");
        } catch (RuntimeException | Error e) {
            log.warn("transaction.recovery_failed", e);
        }
    }

    /** Ends the thread. If it is working on a transaction, another worker continues with it after its lease. */
    @Override
    public void close() {
        repetition.cancel(true);
        thread.shutdownNow();
    }
}

package dev.latchkey.jdbc;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.ReleaseSubscriptions;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has sticky holds recalled. Who is to keep one has to hear of its recall, so the store listens before the first request for one,
 * and from then on.
 */
final class HoldWatch {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);
    private static final Duration LIMIT = Duration.ofSeconds(3);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Not the name of any resource in the table. */
    private static final String RECALLS = "~";

    private final Database database;
    private final KeptHolds kept;
    private final ReleaseSubscriptions wakeups;
    private final NotificationListener listener;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable ReleaseSubscription subscription;
    private volatile long retryNanos = System.nanoTime();
    private volatile boolean warned;

    HoldWatch(Database database, KeptHolds kept, ReleaseSubscriptions wakeups, NotificationListener listener) {
        this.database = database;
        this.kept = kept;
        this.wakeups = wakeups;
        this.listener = listener;
    }

    /** Whether the database can recall: where it cannot be reached, that is not known, and comes out at the first request. */
    boolean mayRecall() {
        try {
            return database.statements("").sticky().isPresent();
        } catch (LockStorageException e) {
            return true;
        }
    }

    /** Returns the same request, which may be sent now: if it is sticky, the store listens, or has found that it cannot. */
    Request prepared(Request request) {
        if (request.isSticky()) {
            checkThatItRecalls(request.key().resource());
            boolean mayHear = retryNanos - System.nanoTime() <= 0;
            if (subscription == null || (mayHear && !listener.hearsAll())) {
                listen();
            }
        }
        return request;
    }

    private void checkThatItRecalls(String resource) {
        if (database.statements(resource).sticky().isEmpty()) {
            throw new UnsupportedOperationException(
                    "this database cannot recall a hold, so no lock can stay with its process: leave sticky() out");
        }
    }

    private void listen() {
        boolean interrupted = Thread.interrupted();
        guard.lock();
        try {
            if (subscription != null && (listener.hearsAll() || retryNanos - System.nanoTime() > 0)) {
                // Another thread has waited for that meanwhile.
                return;
            }
            ReleaseSubscription recalls = subscription == null ? wakeups.watch(RECALLS) : subscription;
            subscription = recalls;
            CompletionStage<?> begun = recalls.next();
            long end = System.nanoTime() + LIMIT.toNanos();
            while (!listener.hearsAll()
                    && listener.mayHearSoon()
                    && !begun.toCompletableFuture().isDone()) {
                interrupted |= await(begun, end - System.nanoTime());
                if (end - System.nanoTime() <= 0) {
                    break;
                }
            }
            if (!listener.hearsAll()) {
                retryNanos = System.nanoTime() + RETRY_NANOS;
                warnOnce();
            }
        } finally {
            guard.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns whether it was interrupted. */
    private static boolean await(CompletionStage<?> begun, long nanos) {
        try {
            begun.toCompletableFuture().get(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return true;
        } catch (ExecutionException | TimeoutException e) {
            log.debug("lock.not_listening_yet problem={}", e.toString());
        }
        return false;
    }

    private void warnOnce() {
        if (!warned) {
            warned = true;
            log.warn("lock.subscription_failed problem={} consequence=sticky locks are not kept", listener.problem());
        }
    }

    /** Returns the same answer; what is granted while the store does not listen is recalled at once. */
    Response watched(Request request, Response response) {
        if (response instanceof Response.Granted) {
            recallUnlessItListens(request);
        }
        return response;
    }

    void recallUnlessItListens(Request request) {
        if (request.isSticky() && !listener.hearsAll()) {
            kept.recall(ResourceName.of(request.key().resource()));
        }
    }
}

package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Begins acquires that may wait, on the thread of their caller or on none. */
final class QueuedAcquires {

    private final ScriptRunner server;
    private final LazyNotificationChannel inbox;
    private final WaiterRegistry waiters;
    private final LocalQueues local;
    private final OwnerNames owners;

    QueuedAcquires(
            ScriptRunner server,
            LazyNotificationChannel inbox,
            WaiterRegistry waiters,
            LocalQueues local,
            OwnerNames owners) {
        this.server = server;
        this.inbox = inbox;
        this.waiters = waiters;
        this.local = local;
        this.owners = owners;
    }

    /** An acquire whose first request was sent, or which is behind others of this store. */
    record Begun(QueuedAcquire acquire, WaiterRegistry.Entry entry) implements AutoCloseable {

        /** Leaves the queue. What is granted after that is given back. */
        @Override
        public void close() {
            entry.close();
        }
    }

    /**
     * Begins an acquire, which messages are passed on to until it is closed: sends its first request, unless others of this store
     * are before it.
     *
     * @throws InterruptedException if the thread is interrupted before that
     */
    Begun begin(AttemptRequests attempt, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        QueuedAcquire acquire = new QueuedAcquire(server, attempt, inbox, local.place(attempt), maxWait);
        WaiterRegistry.Entry entry = waiters.add(acquire);
        withdrawn.thenRun(acquire::withdraw);
        try {
            if (acquire.join()) {
                server.link().connectInOrder(attempt.resource());
                acquire.sent(server.send(acquire.nextRequest()));
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            entry.close();
            throw e;
        } finally {
            server.link().letNextSend();
        }
        owners.use(attempt.request());
        return new Begun(acquire, entry);
    }

    /** Begins an acquire whose other steps are made on threads of an executor. */
    CompletableFuture<Response> start(
            AttemptRequests attempt, Duration maxWait, CompletionStage<?> withdrawn, Executor steps) {
        try {
            return new ThreadlessWait(begin(attempt, maxWait, withdrawn), steps).begin();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Fails all acquires, and lets them leave the queue before the connection for messages is closed. */
    void close() {
        waiters.close();
        inbox.close(server.limit());
    }
}

package dev.latchkey.redis;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** Begins acquires that may wait, on the thread of their caller or on none. */
final class QueuedAcquires {

    private final ScriptRunner server;
    private final Requests requests;
    private final LazyNotificationChannel inbox;
    private final WaiterRegistry waiters;
    private final OwnerNames owners;

    QueuedAcquires(
            ScriptRunner server,
            Requests requests,
            LazyNotificationChannel inbox,
            WaiterRegistry waiters,
            OwnerNames owners) {
        this.server = server;
        this.requests = requests;
        this.inbox = inbox;
        this.waiters = waiters;
        this.owners = owners;
    }

    /** An acquire whose first request was sent. */
    record Begun(QueuedAcquire acquire, WaiterRegistry.Entry entry) implements AutoCloseable {

        /** Leaves the queue. What is granted after that is given back. */
        @Override
        public void close() {
            entry.close();
        }
    }

    /**
     * Sends the first request of an acquire, which messages are passed on to until it is closed.
     *
     * @throws InterruptedException if the thread is interrupted before that
     */
    Begun begin(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        String resource = request.key().resource();
        LockAttempt attempt = new LockAttempt(requests, request, waiters.newAttempt());
        QueuedAcquire acquire = new QueuedAcquire(server, attempt, inbox, request, maxWait);
        WaiterRegistry.Entry entry = waiters.add(acquire);
        withdrawn.thenRun(acquire::withdraw);
        try {
            server.link().connectInOrder(resource);
            acquire.sent(server.send(acquire.firstRequest()));
        } catch (InterruptedException | RuntimeException | Error e) {
            entry.close();
            throw e;
        } finally {
            server.link().letNextSend();
        }
        owners.use(request);
        return new Begun(acquire, entry);
    }

    /** Begins an acquire whose other steps are made on threads of an executor. */
    CompletableFuture<Response> start(Request request, Duration maxWait, CompletionStage<?> withdrawn, Executor steps) {
        try {
            return new ThreadlessWait(begin(request, maxWait, withdrawn), steps).begin();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return CompletableFuture.failedFuture(e);
        }
    }
}

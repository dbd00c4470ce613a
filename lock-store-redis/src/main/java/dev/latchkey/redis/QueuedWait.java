package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A wait from its first request to the moment when nothing is left of it. */
final class QueuedWait {

    private final WaiterRegistry waits;
    private final QueueRequests questions;
    private final WaiterSubscription subscription;
    private final QueuedAcquire wait;

    QueuedWait(WaiterRegistry waits, LazyNotificationChannel inbox, QueueRequests questions, Duration maxWait) {
        this.waits = waits;
        this.questions = questions;
        this.subscription = new WaiterSubscription(inbox, questions.resource());
        this.wait = new QueuedAcquire(questions, subscription, maxWait);
    }

    Response await(CompletionStage<?> withdrawn) throws InterruptedException {
        withdrawn.thenRun(() -> wait.signal(new WaiterEvent.Withdrawn()));
        Response response = null;
        Throwable failure = null;
        try {
            waits.begin(questions, wait);
            response = wait.await();
        } catch (RuntimeException | InterruptedException e) {
            failure = e;
            throw e;
        } finally {
            end(response, failure);
        }
        return response;
    }

    private void end(@Nullable Response response, @Nullable Throwable failure) {
        boolean granted = response instanceof Response.Granted;
        try {
            wait.leave();
        } catch (RuntimeException e) {
            // What it is still granted, or was while this could not be answered, nobody would give up.
            giveBack();
            if (failure == null) {
                throw e;
            }
            failure.addSuppressed(e);
        } finally {
            if (granted && wait.isGrantedInTurn()) {
                waits.grantedInTurn(questions.request().key().token());
            }
            subscription.close();
            waits.end(questions, wait, granted ? null : this::giveBack);
        }
    }

    /** A grant to a wait that is over. Not awaited: this runs on a thread of the driver. */
    private void giveBack() {
        giveBack(System.nanoTime() + questions.request().ttl().toNanos());
    }

    /** Again while the server cannot be reached, until the lease is over that it may have granted. */
    private void giveBack(long endNanos) {
        if (waits.isClosed()) {
            return;
        }
        var unused = questions.cancelApart().whenComplete((done, failure) -> {
            boolean passing = failure != null && (Failures.isConnection(failure) || Failures.isPassing(failure));
            if (passing && endNanos - System.nanoTime() > 0) {
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> giveBack(endNanos));
            }
        });
    }
}

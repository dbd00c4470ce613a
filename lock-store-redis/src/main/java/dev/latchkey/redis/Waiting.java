package dev.latchkey.redis;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A wait from its first request to the moment when nothing is left of it. */
final class Waiting {

    private final Server server;
    private final Waits waits;
    private final byte[] key;
    private final Request request;

    Waiting(Server server, Waits waits, byte[] key, Request request) {
        this.server = server;
        this.waits = waits;
        this.key = key;
        this.request = request;
    }

    Attempt await(Wait wait, CompletionStage<?> withdrawn) throws InterruptedException {
        withdrawn.thenRun(() -> wait.signal(new Signal.Withdrawn()));
        Attempt attempt = null;
        Throwable failure = null;
        try {
            waits.begin(wait, request);
            attempt = wait.await();
        } catch (RuntimeException | InterruptedException e) {
            failure = e;
            throw e;
        } finally {
            end(wait, attempt, failure);
        }
        return attempt;
    }

    private void end(Wait wait, @Nullable Attempt attempt, @Nullable Throwable failure) {
        String resource = request.key().resource();
        boolean granted = attempt instanceof Attempt.Granted;
        try {
            wait.leave();
        } catch (RuntimeException e) {
            if (failure == null) {
                throw e;
            }
            failure.addSuppressed(e);
        } finally {
            if (granted && wait.isGrantedInTurn()) {
                waits.grantedInTurn(request.key().token());
            }
            waits.end(wait, resource, granted ? null : () -> giveBack(wait));
        }
    }

    /** A grant to a wait that is over. Not awaited: this runs on a thread of the driver. */
    private void giveBack(Wait wait) {
        if (!waits.isClosed()) {
            var unused = server.send(request.key().resource(), Script.CANCEL, key, wait.cancelArguments());
        }
    }
}

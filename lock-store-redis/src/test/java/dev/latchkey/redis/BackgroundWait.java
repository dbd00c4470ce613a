package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.granted;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** One wait in a thread of its own, and what it was granted. */
record BackgroundWait(Key key, CompletableFuture<Void> withdrawn, BackgroundCall<Response> call) {

    private static final Duration LONG_WAIT = Duration.ofMinutes(10);

    /** How to wait. */
    interface Waiting {

        Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
                throws InterruptedException;
    }

    /** Returns once it waits, be it at home or in the queue on the server. */
    static BackgroundWait in(Waiting store, Request request) {
        return in(store, request, LONG_WAIT);
    }

    static BackgroundWait in(Waiting store, Request request, Duration maxWait) {
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        BackgroundCall<Response> call = BackgroundCall.start(() -> store.waitAndSave(request, maxWait, withdrawn));
        call.awaitWaiting();
        return new BackgroundWait(request.key(), withdrawn, call);
    }

    static BackgroundWait in(RedisStore store, Request request) {
        return in(store::waitAndSave, request);
    }

    Response.Granted grant() throws Exception {
        return granted(call.result());
    }
}

package dev.latchkey.etcd;

import dev.latchkey.etcd.Attempts.Attempt;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Sends requests and waits for their answers: never longer than the time limit, and through interrupts, whose flag is kept. A
 * request is sent again, to the next server, if none has tried to serve it, or if it does no harm when it is served twice.
 */
final class Calls {

    private static final long PAUSE_MILLIS = 50;

    /** With several servers, one that hangs must leave time to ask another one. */
    private static final int ATTEMPTS = 3;

    private final Channels channels;
    private final AuthToken token;
    private final Duration limit;
    private final Duration attemptLimit;
    private volatile boolean isClosed;

    Calls(Endpoints endpoints, Duration limit) {
        this.channels = new Channels(endpoints.channels());
        this.token = new AuthToken(endpoints.credentials());
        this.limit = limit;
        this.attemptLimit = channels.size() > 1 ? limit.dividedBy(ATTEMPTS) : limit;
    }

    /** What may be done if it is not known whether a server has served a request. */
    enum Repeat {
        /** Ask again: it reads, or writes what nobody uses unless its answer came. */
        HARMLESS,
        /** Leave that to the caller. */
        NEVER
    }

    /** Sends a request until it is answered. */
    <Q, A> A ask(String resource, MethodDescriptor<Q, A> method, Q request, Repeat repeat) {
        long endNanos = System.nanoTime() + limit.toNanos();
        for (int failures = 1; ; failures++) {
            checkOpen(resource);
            Metadata headers = token.headers(this::authenticate, resource, limit);
            int move = channels.moves();
            Attempt<A> attempt = send(move, method, request, headers, endNanos);
            Status status = attempt.status();
            if (status.isOk()) {
                return attempt.answer();
            }
            if (!attempt.isSent()) {
                checkOpen(resource);
            }
            if (Failures.isLeaseGone(status)) {
                throw new LeaseGoneException(resource);
            }
            boolean isTokenOld = Failures.isTokenOld(status) && token.discard(headers);
            boolean mayRepeat = isTokenOld || Failures.mayRepeat(status, attempt.isSent(), repeat);
            if (Failures.isOfServer(status)) {
                channels.moveFrom(move);
            }
            if (!mayRepeat || isClosed || isOver(endNanos)) {
                throw Failures.of(resource, status, attempt.isSent());
            }
            if (failures % channels.size() == 0) {
                pause();
            }
        }
    }

    private <Q, A> Attempt<A> send(
            int move, MethodDescriptor<Q, A> method, Q request, Metadata headers, long endNanos) {
        long nanos = Math.max(1, Math.min(endNanos - System.nanoTime(), attemptLimit.toNanos()));
        return Attempts.send(channels.at(move), method, request, headers, nanos).join();
    }

    private static void pause() {
        new CompletableFuture<Void>()
                .completeOnTimeout(null, PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    /** Asks one server after the other, as for anything else. Whatever the token is for has not been sent. */
    private AuthenticateResponse authenticate(String resource, AuthenticateRequest request) {
        long endNanos = System.nanoTime() + limit.toNanos();
        for (int failures = 1; ; failures++) {
            checkOpen(resource);
            int move = channels.moves();
            Attempt<AuthenticateResponse> attempt =
                    send(move, AuthGrpc.getAuthenticateMethod(), request, new Metadata(), endNanos);
            Status status = attempt.status();
            if (status.isOk()) {
                return attempt.answer();
            }
            if (Failures.isOfServer(status)) {
                channels.moveFrom(move);
            }
            if (!Failures.isOfServer(status) || isOver(endNanos)) {
                throw Failures.of(resource, status, false);
            }
            if (failures % channels.size() == 0) {
                pause();
            }
        }
    }

    private static boolean isOver(long endNanos) {
        return endNanos - System.nanoTime() < TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
    }

    /** Opens a stream, which has no time limit and fails when its server has lost the others. */
    <Q, A> StreamObserver<Q> stream(
            String resource, MethodDescriptor<Q, A> method, StreamObserver<A> answers, int move, Metadata headers) {
        checkOpen(resource);
        return ClientCalls.asyncBidiStreamingCall(
                Attempts.with(channels.at(move), headers).newCall(method, CallOptions.DEFAULT), answers);
    }

    /** What a stream begins with. Asks for a token if there is none, and waits for it. */
    Metadata streamHeaders(String resource) {
        return token.streamHeaders(this::authenticate, resource, limit);
    }

    Duration limit() {
        return limit;
    }

    /** Changes with the server that is used. */
    int server() {
        return channels.moves();
    }

    /** Leaves a server that answers, but cannot say what it should; waits a little, for it may be the only one. */
    void moveOn(int server) {
        channels.moveFrom(server);
        pause();
    }

    void checkOpen(String resource) {
        if (isClosed) {
            throw Failures.closed(resource);
        }
    }

    boolean isClosed() {
        return isClosed;
    }

    void close() {
        isClosed = true;
        channels.close();
    }
}

package dev.latchkey.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Sends one request to one server. */
final class Attempts {

    private Attempts() {}

    /**
     * What came of it.
     *
     * @param isSent whether the server may have received it
     */
    record Attempt<A>(Status status, boolean isSent, Optional<A> value) {

        A answer() {
            return value.orElseThrow();
        }
    }

    static Channel with(Channel channel, Metadata headers) {
        return ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /** Completes within the time, and never with an exception. */
    static <Q, A> CompletableFuture<Attempt<A>> send(
            Channel channel, MethodDescriptor<Q, A> method, Q request, Metadata headers, long nanos) {
        SendTracer tracer = new SendTracer();
        CompletableFuture<Attempt<A>> result = new CompletableFuture<>();
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(nanos, TimeUnit.NANOSECONDS)
                .withStreamTracerFactory(tracer);
        ClientCalls.asyncUnaryCall(with(channel, headers).newCall(method, options), request, new StreamObserver<A>() {
            @Override
            public void onNext(A answer) {
                result.complete(new Attempt<>(Status.OK, true, Optional.of(answer)));
            }

            @Override
            public void onError(Throwable failure) {
                result.complete(new Attempt<>(Status.fromThrowable(failure), tracer.isSent(), Optional.empty()));
            }

            /** Without an answer, this is all that comes. */
            @Override
            public void onCompleted() {
                Status none = Status.INTERNAL.withDescription("the call ended without an answer");
                result.complete(new Attempt<>(none, true, Optional.empty()));
            }
        });
        return result;
    }
}

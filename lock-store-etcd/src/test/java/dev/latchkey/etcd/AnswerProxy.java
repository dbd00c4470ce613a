package dev.latchkey.etcd;

import dev.latchkey.testkit.ServerAddress;
import io.grpc.CallOptions;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/** Stands between a store and a server that runs, and changes what the server answers. Passes no headers on. */
final class AnswerProxy implements AutoCloseable {

    private static final Bytes BYTES = new Bytes();

    private final ManagedChannel channel;
    private final Server server;
    private final Map<String, UnaryOperator<byte[]>> changes = new ConcurrentHashMap<>();

    private final Set<String> swallowed = ConcurrentHashMap.newKeySet();

    private AnswerProxy(ServerAddress target) throws IOException {
        channel =
                NettyChannelBuilder.forTarget(target.toString()).usePlaintext().build();
        server = NettyServerBuilder.forPort(0)
                .fallbackHandlerRegistry(new Forwarding())
                .build()
                .start();
    }

    static AnswerProxy to(ServerAddress target) {
        try {
            return new AnswerProxy(target);
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a proxy to " + target, e);
        }
    }

    ServerAddress address() {
        return new ServerAddress("127.0.0.1", server.getPort());
    }

    String dsn() {
        return "etcd://" + address();
    }

    /** Changes each answer to a method. */
    <A> void change(MethodDescriptor<?, A> method, UnaryOperator<A> change) {
        changes.put(
                method.getFullMethodName(),
                answer -> read(
                        method.streamResponse(change.apply(method.parseResponse(new ByteArrayInputStream(answer))))));
    }

    /** Ends each call of a method without an answer, as if all were well. */
    void swallow(MethodDescriptor<?, ?> method) {
        swallowed.add(method.getFullMethodName());
    }

    private static byte[] read(InputStream in) {
        try {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
        channel.shutdownNow();
    }

    private record Bytes() implements MethodDescriptor.Marshaller<byte[]> {

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return read(stream);
        }
    }

    private final class Forwarding extends HandlerRegistry {

        @Override
        public ServerMethodDefinition<byte[], byte[]> lookupMethod(String name, String authority) {
            MethodDescriptor<byte[], byte[]> method = MethodDescriptor.newBuilder(BYTES, BYTES)
                    .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                    .setFullMethodName(name)
                    .build();
            return ServerMethodDefinition.create(
                    method,
                    ServerCalls.asyncBidiStreamingCall(answers -> ClientCalls.asyncBidiStreamingCall(
                            channel.newCall(method, CallOptions.DEFAULT), new Changing(name, answers))));
        }
    }

    private final class Changing implements StreamObserver<byte[]> {

        private final String method;
        private final StreamObserver<byte[]> answers;

        Changing(String method, StreamObserver<byte[]> answers) {
            this.method = method;
            this.answers = answers;
        }

        @Override
        public void onNext(byte[] answer) {
            if (swallowed.contains(method)) {
                return;
            }
            answers.onNext(changes.getOrDefault(method, same -> same).apply(answer));
        }

        @Override
        public void onError(Throwable failure) {
            answers.onError(failure);
        }

        @Override
        public void onCompleted() {
            answers.onCompleted();
        }
    }
}

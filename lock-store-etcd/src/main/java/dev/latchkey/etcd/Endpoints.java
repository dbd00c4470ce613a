package dev.latchkey.etcd;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The servers, and how to speak with them.
 *
 * @param servers as {@code host:port}
 * @param isEncrypted whether by TLS, with the certificates that the JVM trusts
 */
record Endpoints(List<String> servers, boolean isEncrypted, Optional<Credentials> credentials) {

    private static final int KEEP_ALIVE_SECONDS = 10;
    private static final int KEEP_ALIVE_ANSWER_SECONDS = 3;

    /** Connects each when it is first used. */
    List<ManagedChannel> channels() {
        return servers.stream().map(this::channel).toList();
    }

    private ManagedChannel channel(String server) {
        NettyChannelBuilder builder = NettyChannelBuilder.forTarget(server)
                .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveTimeout(KEEP_ALIVE_ANSWER_SECONDS, TimeUnit.SECONDS)
                // As etcd's own clients: a page of the list may have many long names.
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .disableRetry()
                .directExecutor();
        return isEncrypted ? builder.build() : builder.usePlaintext().build();
    }
}

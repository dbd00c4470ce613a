package dev.latchkey.etcd;

import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;

/** Notices whether a request was sent to a server at all. */
final class SendTracer extends ClientStreamTracer.Factory {

    private volatile boolean isSent;

    boolean isSent() {
        return isSent;
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
        return new ClientStreamTracer() {
            @Override
            public void outboundHeaders() {
                isSent = true;
            }
        };
    }
}

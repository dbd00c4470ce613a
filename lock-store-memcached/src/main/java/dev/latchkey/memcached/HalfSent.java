package dev.latchkey.memcached;

import java.net.SocketAddress;
import net.spy.memcached.ConnectionObserver;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.ops.Operation;
import net.spy.memcached.ops.OperationState;

/**
 * Cancels the operation of which a client has sent only a part when its connection is lost. The driver cancels those that it has
 * sent, but would send this one again and no longer expect its answer: each later call would get the answer to the one before.
 */
record HalfSent(MemcachedClient client) implements ConnectionObserver {

    @Override
    public void connectionEstablished(SocketAddress server, int attempts) {}

    /** Called before the driver connects again, and by its own thread, as only that may change the queue. */
    @Override
    public void connectionLost(SocketAddress server) {
        // The nodes that the client itself tells of can only be read.
        client.getConnection().getLocator().getAll().forEach(HalfSent::cancel);
    }

    private static void cancel(MemcachedNode node) {
        Operation first = node.getCurrentWriteOp();
        if (first != null && first.getState() == OperationState.WRITING) {
            node.removeCurrentWriteOp().cancel();
        }
    }
}

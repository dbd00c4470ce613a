package dev.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between a client and a server, and makes the network between them go wrong as a test says: slow, silent, cut, or
 * cut at a certain message. Thread-safe.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(server.address())) {
 *     CompletableFuture<Void> lost = proxy.loseReplyTo(resource);
 *     …                                   // the server runs the command, and the client never hears of it
 *     assertThat(lost).isCompleted();
 * }
 * }</pre>
 */
public final class FaultProxy implements AutoCloseable {

    private final ServerAddress target;
    private final ServerSocket listener;
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final FaultPlan plan = new FaultPlan();

    private FaultProxy(ServerAddress target, ServerSocket listener) {
        this.target = target;
        this.listener = listener;
    }

    /**
     * Opens a proxy that does no harm yet.
     *
     * @param target where connections are passed on to
     * @return the proxy, listening
     */
    public static FaultProxy to(ServerAddress target) {
        try {
            ServerAddress address = ServerAddress.unused();
            ServerSocket listener = new ServerSocket(address.port(), 100, InetAddress.getByName(address.host()));
            FaultProxy proxy = new FaultProxy(target, listener);
            ProxiedConnection.daemon("fault-proxy-" + address, proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a proxy to " + target, e);
        }
    }

    /**
     * Returns where clients connect to.
     *
     * @return on the loopback interface
     */
    public ServerAddress address() {
        return new ServerAddress("127.0.0.1", listener.getLocalPort());
    }

    /**
     * Holds back whatever arrives, in both directions, for a while before it is passed on.
     *
     * @param delay zero for none
     */
    public void delay(Duration delay) {
        plan.delay(delay);
    }

    /** Passes nothing on any more and closes nothing: the network is silent, also for new connections. */
    public void silence() {
        plan.silence();
    }

    /** Ends {@link #silence()} and {@link #refuse()}; what was held back is delivered. */
    public void heal() {
        plan.heal();
    }

    /** Resets all connections; new ones are accepted. */
    public void cut() {
        connections.forEach(ProxiedConnection::reset);
    }

    /** Resets all connections, and new ones as they come, until {@link #heal()}. */
    public void refuse() {
        plan.refuse();
        cut();
    }

    /**
     * Resets a connection as soon as a certain request comes; the server never sees it.
     *
     * @param part a text in the request
     * @return done once that has happened
     */
    public CompletableFuture<Void> loseRequest(String part) {
        return plan.next(FaultPlan.Kind.LOSE_REQUEST, part);
    }

    /**
     * Passes a certain request on, waits until the server has answered, and resets the connection instead of delivering the
     * answer.
     *
     * @param part a text in the request
     * @return done once that has happened
     */
    public CompletableFuture<Void> loseReplyTo(String part) {
        return plan.next(FaultPlan.Kind.LOSE_REPLY, part);
    }

    /**
     * Swallows a certain message of the server, and leaves the connection as it is. Meant for messages that are sent alone,
     * as those of a subscription are.
     *
     * @param part a text in the message
     * @return done once that has happened
     */
    public CompletableFuture<Void> dropMessage(String part) {
        return plan.next(FaultPlan.Kind.DROP_MESSAGE, part);
    }

    /**
     * Resets a connection instead of delivering a certain message of the server.
     *
     * @param part a text in the message
     * @return done once that has happened
     */
    public CompletableFuture<Void> cutAtMessage(String part) {
        return plan.next(FaultPlan.Kind.CUT_AT_MESSAGE, part);
    }

    /**
     * Counts the connections that are open now.
     *
     * @return from clients
     */
    public int connections() {
        return connections.size();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                open(listener.accept());
            } catch (IOException e) {
                // Closed, or the client has already gone.
            }
        }
    }

    private void open(Socket client) throws IOException {
        Socket server;
        try {
            server = target.connect();
        } catch (IOException e) {
            ProxiedConnection.resetSocket(client);
            return;
        }
        client.setTcpNoDelay(true);
        ProxiedConnection connection = new ProxiedConnection(client, server, plan, connections::remove);
        connections.add(connection);
        // Asked after it was added, so that refuse() misses no connection that is just being opened.
        if (plan.refuses()) {
            connection.reset();
            return;
        }
        connection.start();
    }

    /** Resets all connections and stops listening. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close a proxy", e);
        }
        cut();
        plan.heal();
    }
}

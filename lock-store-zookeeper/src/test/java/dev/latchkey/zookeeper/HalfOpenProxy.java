package dev.latchkey.zookeeper;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes connections on until it severs them: the client's end is reset, the server's stays open and silent. */
final class HalfOpenProxy implements AutoCloseable {

    private final ServerAddress target;
    private final ServerSocket listener;
    private final Set<Socket> clients = ConcurrentHashMap.newKeySet();
    private final Set<Socket> servers = ConcurrentHashMap.newKeySet();
    private volatile boolean severed;

    private HalfOpenProxy(ServerAddress target, ServerSocket listener) {
        this.target = target;
        this.listener = listener;
    }

    static HalfOpenProxy to(ServerAddress target) throws IOException {
        ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        HalfOpenProxy proxy = new HalfOpenProxy(target, listener);
        daemon(proxy::accept);
        return proxy;
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                clients.add(client);
                if (severed) {
                    reset(client);
                    continue;
                }
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target.port());
                servers.add(server);
                daemon(() -> pump(client, server));
                daemon(() -> pump(server, client));
            } catch (IOException e) {
                // Closed, or the server is not there yet: who connected tries again.
                clients.forEach(HalfOpenProxy::reset);
            }
        }
    }

    private void pump(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // One end is gone.
        }
        if (!severed) {
            reset(from);
            reset(to);
        }
    }

    /** From now on nothing passes. */
    void sever() {
        severed = true;
        clients.forEach(HalfOpenProxy::reset);
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            // Closed already.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "half-open-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        sever();
        servers.forEach(HalfOpenProxy::reset);
    }
}

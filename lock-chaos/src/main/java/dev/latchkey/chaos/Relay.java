package dev.latchkey.chaos;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Passes connections on to where a server is now; those that are open stay where they are. May be muted: what clients send arrives,
 * and what the server answers does not. Thread-safe.
 */
final class Relay implements AutoCloseable {

    private static final int BUFFER = 64 * 1024;

    private final Supplier<ServerAddress> target;
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private boolean mute;

    private interface Passage {
        void await() throws InterruptedException;
    }

    private Relay(Supplier<ServerAddress> target, ServerSocket listener) {
        this.target = target;
        this.listener = listener;
    }

    static Relay to(Supplier<ServerAddress> target) {
        try {
            Relay relay = new Relay(target, new ServerSocket(0, 100, InetAddress.getLoopbackAddress()));
            Daemon.start("relay", relay::accept);
            return relay;
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a relay", e);
        }
    }

    ServerAddress address() {
        return new ServerAddress("127.0.0.1", listener.getLocalPort());
    }

    synchronized void mute() {
        mute = true;
    }

    /** What was held back is delivered. */
    synchronized void heal() {
        mute = false;
        notifyAll();
    }

    private synchronized void awaitVoice() throws InterruptedException {
        while (mute) {
            wait();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connect(listener.accept());
            } catch (IOException e) {
                // Closed, or the client has already gone.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server;
        try {
            server = target.get().connect();
        } catch (IOException e) {
            reset(client);
            return;
        }
        client.setTcpNoDelay(true);
        open.add(client);
        Daemon.start("relay-requests", () -> pump(client, server, () -> {}));
        Daemon.start("relay-replies", () -> pump(server, client, this::awaitVoice));
    }

    private void pump(Socket from, Socket to, Passage passage) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                passage.await();
                out.write(buffer, 0, length);
            }
        } catch (IOException e) {
            // One side is gone: so is the connection.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.remove(from);
            open.remove(to);
            reset(from);
            reset(to);
        }
    }

    /** As a firewall or a crash does. */
    private static void reset(Socket socket) {
        try (socket) {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // Closed already.
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close a relay", e);
        }
        open.forEach(Relay::reset);
        heal();
    }
}

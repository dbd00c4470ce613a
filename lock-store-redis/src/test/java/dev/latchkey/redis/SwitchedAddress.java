package dev.latchkey.redis;

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

/**
 * An address that leads to one server or another, as a virtual address or a name does: connections that are open stay where they
 * are.
 */
final class SwitchedAddress implements AutoCloseable {

    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final Set<Socket> mute = ConcurrentHashMap.newKeySet();
    private volatile ServerAddress target;

    SwitchedAddress(ServerAddress target) {
        this.target = target;
        try {
            listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    String dsn() {
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    /** New connections lead there. */
    void leadTo(ServerAddress other) {
        target = other;
    }

    /** Nothing comes through the connections that are open, for ever: a firewall has forgotten them. */
    void forgetConnections() {
        mute.addAll(open);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket server = target.connect();
                open.add(client);
                open.add(server);
                daemon(() -> pump(client, server));
                daemon(() -> pump(server, client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] buffer = new byte[64 * 1024];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (!mute.contains(from)) {
                    out.write(buffer, 0, length);
                }
            }
        } catch (IOException e) {
            // One side is gone: so is the connection.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "switched-address");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            listener.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

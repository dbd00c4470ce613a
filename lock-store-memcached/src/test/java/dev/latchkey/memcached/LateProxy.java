package dev.latchkey.memcached;

import dev.latchkey.testkit.ServerAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Holds one request back while its connection breaks, and delivers it later, as a network may. Thread-safe. */
final class LateProxy implements AutoCloseable {

    private final ServerAddress server;
    private final ServerSocket listener;
    private @Nullable Pattern next;
    private byte @Nullable [] late;

    LateProxy(ServerAddress server) {
        this.server = server;
        try {
            listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    ServerAddress address() {
        return new ServerAddress("127.0.0.1", listener.getLocalPort());
    }

    /** The next request with this in it. */
    synchronized void holdBack(String request) {
        next = Pattern.compile(request);
    }

    synchronized boolean holdsBack() {
        return late != null;
    }

    /** Returns the first line that the server answers. */
    synchronized String deliver() throws IOException {
        if (late == null) {
            throw new IllegalStateException("nothing was held back");
        }
        try (Socket socket = server.connect()) {
            socket.getOutputStream().write(late);
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .readLine();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket behind = server.connect();
                daemon(() -> pump(client, behind, true));
                daemon(() -> pump(behind, client, false));
            } catch (IOException e) {
                // Closed.
            }
        }
    }

    private void pump(Socket from, Socket to, boolean requests) {
        byte[] bytes = new byte[65536];
        try (from;
                to) {
            InputStream input = from.getInputStream();
            OutputStream output = to.getOutputStream();
            for (int length = input.read(bytes); length >= 0; length = input.read(bytes)) {
                if (requests && isHeldBack(Arrays.copyOf(bytes, length))) {
                    return;
                }
                output.write(bytes, 0, length);
            }
        } catch (IOException e) {
            // One of them has gone, and so does the other.
        }
    }

    private synchronized boolean isHeldBack(byte[] request) {
        if (next == null
                || !next.matcher(new String(request, StandardCharsets.US_ASCII)).find()) {
            return false;
        }
        next = null;
        late = request;
        return true;
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "late-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}

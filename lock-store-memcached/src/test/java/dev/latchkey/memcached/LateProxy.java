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
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Holds one request back while its connection breaks, and delivers it later, as a network may; or holds one answer back.
 * Thread-safe.
 */
final class LateProxy implements AutoCloseable {

    private final ServerAddress server;
    private final ServerSocket listener;
    private @Nullable Pattern next;
    private byte @Nullable [] late;
    private @Nullable Pattern nextAnswer;
    private @Nullable CountDownLatch heldAnswer;
    private @Nullable String ownStatistics;
    private final StringBuilder transcript = new StringBuilder();

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

    /** The next answer with this in it, until it is let go. */
    synchronized void holdBackAnswer(String answer) {
        nextAnswer = Pattern.compile(answer);
    }

    synchronized boolean holdsAnswerBack() {
        return heldAnswer != null;
    }

    synchronized void letAnswerGo() {
        if (heldAnswer == null) {
            throw new IllegalStateException("no answer was held back");
        }
        heldAnswer.countDown();
    }

    /** Answers itself from now on when it is asked for statistics, as proxies of Memcached do. */
    synchronized void answerStatistics(String statistics) {
        ownStatistics = statistics;
    }

    private synchronized @Nullable String ownAnswer(String request) {
        return request.equals("stats\r\n") ? ownStatistics : null;
    }

    /** All that was asked and answered. */
    synchronized String transcript() {
        return transcript.toString();
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
                note(new String(bytes, 0, length, StandardCharsets.US_ASCII));
                if (requests && isHeldBack(Arrays.copyOf(bytes, length))) {
                    return;
                }
                String own = requests ? ownAnswer(new String(bytes, 0, length, StandardCharsets.US_ASCII)) : null;
                if (own != null) {
                    from.getOutputStream().write(own.getBytes(StandardCharsets.US_ASCII));
                    continue;
                }
                if (!requests) {
                    awaitLetGo(new String(bytes, 0, length, StandardCharsets.US_ASCII));
                }
                output.write(bytes, 0, length);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // One of them has gone, and so does the other.
        }
    }

    private synchronized void note(String bytes) {
        transcript.append(bytes);
    }

    private void awaitLetGo(String answer) throws InterruptedException {
        CountDownLatch held;
        synchronized (this) {
            if (nextAnswer == null || !nextAnswer.matcher(answer).find()) {
                return;
            }
            nextAnswer = null;
            held = new CountDownLatch(1);
            heldAnswer = held;
        }
        held.await();
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

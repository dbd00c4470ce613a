package dev.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Where a server listens.
 *
 * @param host a name or number
 * @param port its TCP port
 */
public record ServerAddress(String host, int port) {

    private static final int CONNECT_MILLIS =
            (int) TimeLimits.scaled(Duration.ofSeconds(5)).toMillis();

    // Below the range from which the system gives connections their local ports: a server that is down for a moment
    // must find its port free again.
    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 32_000;

    /** The last port that was given out by any JVM of this user. */
    private static final Path LAST =
            Path.of(System.getProperty("java.io.tmpdir"), "latchkey-test-port-" + System.getProperty("user.name"));

    /**
     * An address of this machine on which nothing listens now, and which nobody else is given for thousands of calls: between this
     * call and the start of a server, other tests start theirs.
     *
     * @return on the loopback interface
     */
    public static ServerAddress unused() {
        for (int i = 0; i < 100; i++) {
            int port = next();
            // Does not listen itself: a process that is being started has a copy of the socket for a moment after
            // it is closed here, and nobody else may listen there meanwhile.
            try (Socket socket = new Socket()) {
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return new ServerAddress("127.0.0.1", port);
            } catch (IOException taken) {
                // The next one, then.
            }
        }
        throw new IllegalStateException("no free port on the loopback interface");
    }

    private static synchronized int next() {
        try (FileChannel file =
                FileChannel.open(LAST, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            FileLock unused = file.lock();
            ByteBuffer number = ByteBuffer.allocate(Integer.BYTES);
            int last = file.read(number, 0) == Integer.BYTES ? number.getInt(0) : HIGHEST;
            int port = LOWEST + Math.floorMod(last + 1 - LOWEST, HIGHEST - LOWEST);
            int unusedCount = file.write(number.clear().putInt(port).flip(), 0);
            return port;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot give out ports by " + LAST, e);
        }
    }

    /**
     * Opens a connection.
     *
     * @return a socket, connected and without Nagle's delay
     * @throws IOException if nothing answers there
     */
    public Socket connect() throws IOException {
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** As it is written in a DSN. */
    @Override
    public String toString() {
        return host + ":" + port;
    }
}

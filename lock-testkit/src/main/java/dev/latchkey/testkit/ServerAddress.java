package dev.latchkey.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Where a server listens.
 *
 * @param host a name or number
 * @param port its TCP port
 */
public record ServerAddress(String host, int port) {

    private static final int CONNECT_MILLIS = 5_000;

    // Below the range from which the system gives connections their local ports: a server that is down for a moment
    // must
    // find its port free again.
    private static final int LOWEST = 20_000;
    private static final int HIGHEST = 32_000;

    /**
     * An address of this machine on which nothing listens now, chosen at random.
     *
     * @return on the loopback interface
     */
    public static ServerAddress unused() {
        for (int i = 0; i < 100; i++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return new ServerAddress("127.0.0.1", socket.getLocalPort());
            } catch (IOException taken) {
                // The next one, then.
            }
        }
        throw new IllegalStateException("no free port on the loopback interface");
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

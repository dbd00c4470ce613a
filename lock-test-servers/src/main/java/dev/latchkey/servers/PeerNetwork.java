package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The network between the servers of a cluster, from which one of them can be cut off. Each server is reached by an address of
 * this network, which finds out from whom a connection is: a server has one address, whoever connects to it. Needs Linux.
 */
final class PeerNetwork implements AutoCloseable {

    private final List<String> names = new ArrayList<>();
    private final List<ServerSocket> listeners = new ArrayList<>();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private volatile String cutOff = "";

    /** Two sockets, of which each sends on what the other receives. */
    private record Connection(String from, String to, Socket client, Socket server) {

        void end() {
            try {
                client.close();
                server.close();
            } catch (IOException e) {
                throw new UncheckedIOException("could not close a connection", e);
            }
        }

        void pump(Socket in, Socket out) {
            try {
                in.getInputStream().transferTo(out.getOutputStream());
            } catch (IOException e) {
                // It was closed, by us or by either server.
            } finally {
                end();
            }
        }
    }

    /** Opens the address of a server; returns its port. */
    int add(String name, ServerAddress server) {
        try {
            int port = ServerAddress.unused().port();
            ServerSocket listener = new ServerSocket(port, 100, InetAddress.getByName(server.host()));
            names.add(name);
            listeners.add(listener);
            daemon(() -> accept(listener, name, server));
            return port;
        } catch (IOException e) {
            throw new UncheckedIOException("could not open an address for " + name, e);
        }
    }

    /** Ends all connections between a server and the others, and lets none through any more. */
    void cutOff(int server) {
        cutOff = names.get(server);
        connections.stream().filter(this::isCut).forEach(Connection::end);
    }

    void heal() {
        cutOff = "";
    }

    private boolean isCut(Connection connection) {
        return connection.from().equals(cutOff) || connection.to().equals(cutOff);
    }

    private void accept(ServerSocket listener, String to, ServerAddress server) {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                daemon(() -> pass(client, to, server));
            } catch (IOException e) {
                // Closed, or the client has gone already.
            }
        }
    }

    private void pass(Socket client, String to, ServerAddress server) {
        try (client) {
            Optional<String> from = sender(client);
            if (from.isEmpty()) {
                return;
            }
            Connection connection = new Connection(from.get(), to, client, server.connect());
            connections.add(connection);
            try {
                // Asked after it was added, so that none is missed that is just being opened.
                if (isCut(connection)) {
                    connection.end();
                    return;
                }
                daemon(() -> connection.pump(connection.server(), client));
                connection.pump(client, connection.server());
            } finally {
                connections.remove(connection);
            }
        } catch (IOException e) {
            // The server is not there, or either has gone.
        }
    }

    /** The server whose process has the other end of a connection. */
    private static Optional<String> sender(Socket client) throws IOException {
        String local = ":%04X".formatted(client.getPort());
        String remote = ":%04X".formatted(client.getLocalPort());
        Optional<String> inode;
        try (Stream<String> lines = Files.lines(Path.of("/proc/net/tcp"))) {
            inode = lines.map(line -> line.strip().split("\\s+"))
                    .filter(fields -> fields[1].endsWith(local) && fields[2].endsWith(remote))
                    .map(fields -> fields[9])
                    .findFirst();
        }
        return inode.flatMap(number -> ProcessHandle.current()
                .descendants()
                .filter(process -> has(process, "socket:[" + number + "]"))
                .findFirst()
                .flatMap(PeerNetwork::name));
    }

    private static boolean has(ProcessHandle process, String socket) {
        try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return open.anyMatch(file -> isLink(file, socket));
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isLink(Path file, String target) {
        try {
            return Files.readSymbolicLink(file).toString().equals(target);
        } catch (IOException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private static Optional<String> name(ProcessHandle process) {
        return process.info().arguments().map(List::of).flatMap(arguments -> {
            int name = arguments.indexOf("--name");
            return name < 0 ? Optional.empty() : Optional.of(arguments.get(name + 1));
        });
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "peer-network");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        for (ServerSocket listener : listeners) {
            try {
                listener.close();
            } catch (IOException e) {
                throw new UncheckedIOException("could not close an address", e);
            }
        }
        connections.forEach(Connection::end);
    }
}

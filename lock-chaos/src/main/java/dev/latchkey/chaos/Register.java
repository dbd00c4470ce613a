package dev.latchkey.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What the locks protect: a number for each resource, which holders read, increase and write back. It is in the process of the
 * trial, which nothing strikes, and it keeps to the rule for guarded resources: whoever comes with a smaller fencing token
 * than it has seen is refused. Reading counts as coming, since what was read before somebody else wrote must not be written
 * back. Without a token everybody is let in. Thread-safe.
 */
final class Register implements AutoCloseable {

    static final String READ = "read";
    static final String WRITE = "write";
    static final String ACCEPTED = "accepted";
    static final String REFUSED = "refused";

    private final ServerSocket listener;
    private final EventLog log;
    private final Map<String, Cell> cells = new HashMap<>();

    private static final class Cell {
        private long value;
        private long greatestToken = Long.MIN_VALUE;
    }

    private Register(ServerSocket listener, EventLog log) {
        this.listener = listener;
        this.log = log;
    }

    static Register open(EventLog log) {
        try {
            Register register = new Register(new ServerSocket(0, 100, InetAddress.getLoopbackAddress()), log);
            Daemon.start("register", register::listen);
            return register;
        } catch (IOException e) {
            throw new UncheckedIOException("could not open the register", e);
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                Daemon.start("register-client", () -> serve(socket));
            } catch (IOException e) {
                // Closed.
            }
        }
    }

    private void serve(Socket socket) {
        try (socket;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                PrintStream answers = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", -1);
                OptionalLong token = words[3].equals(EventLog.NONE)
                        ? OptionalLong.empty()
                        : OptionalLong.of(Long.parseLong(words[3]));
                answers.println(access(words[0], words[1], words[2], token, Long.parseLong(words[4])));
            }
        } catch (IOException e) {
            // A process that was killed.
        }
    }

    /** Answers with the value there, and whether the caller was let in. */
    private synchronized String access(String verb, String resource, String hold, OptionalLong token, long base) {
        Cell cell = cells.computeIfAbsent(resource, unused -> new Cell());
        long found = cell.value;
        boolean accepted = token.isEmpty() || token.getAsLong() >= cell.greatestToken;
        if (accepted) {
            cell.greatestToken = Math.max(cell.greatestToken, token.orElse(Long.MIN_VALUE));
            if (verb.equals(WRITE)) {
                cell.value = base + 1;
            }
        }
        String answer = accepted ? ACCEPTED : REFUSED;
        log.access(System.nanoTime(), verb, resource, hold, token, answer, base, found);
        return answer + " " + found;
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close the register", e);
        }
    }
}

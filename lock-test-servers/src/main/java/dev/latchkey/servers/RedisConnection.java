package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A plain connection to a Redis server, for what a test asks or does behind the store's back: without a driver, without
 * reconnecting, without a thread. Not thread-safe.
 */
public final class RedisConnection implements AutoCloseable {

    private static final int ANSWER_MILLIS =
            (int) TimeLimits.scaled(Duration.ofSeconds(20)).toMillis();

    private final Socket socket;
    private final InputStream in;

    private RedisConnection(Socket socket) throws IOException {
        this.socket = socket;
        this.socket.setSoTimeout(ANSWER_MILLIS);
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /**
     * Connects.
     *
     * @param address of the server
     * @return a connection
     * @throws IOException if nothing answers there
     */
    public static RedisConnection open(ServerAddress address) throws IOException {
        Socket socket = address.connect();
        try {
            return new RedisConnection(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Has the server run a command, and waits for its answer.
     *
     * @param words the command and its arguments
     * @return a String, a Long, a List of such, or null
     * @throws RedisRefusal if the server answers with an error
     * @throws UncheckedIOException if the connection breaks
     */
    public @Nullable Object call(String... words) {
        try {
            send(words);
            return read();
        } catch (IOException e) {
            throw new UncheckedIOException("no answer to " + words[0], e);
        }
    }

    /**
     * Has the server run a command that answers with a text or a number.
     *
     * @param words the command and its arguments
     * @return the answer as text
     */
    public String text(String... words) {
        return String.valueOf(Objects.requireNonNull(call(words), words[0]));
    }

    /**
     * Sends a command without waiting for the answer, which nobody reads: for one that keeps the server busy. The
     * connection is of no use after it.
     *
     * @param words the command and its arguments
     */
    public void sendOnly(String... words) {
        try {
            send(words);
        } catch (IOException e) {
            throw new UncheckedIOException("could not send " + words[0], e);
        }
    }

    /**
     * Reads what the server sends by itself, as after {@code MONITOR}.
     *
     * @return the next answer
     */
    public @Nullable Object receive() {
        try {
            return read();
        } catch (IOException e) {
            throw new UncheckedIOException("nothing came from the server", e);
        }
    }

    private void send(String... words) throws IOException {
        ByteArrayOutputStream command = new ByteArrayOutputStream();
        command.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            command.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            command.writeBytes(bytes);
            command.writeBytes(new byte[] {'\r', '\n'});
        }
        socket.getOutputStream().write(command.toByteArray());
    }

    private @Nullable Object read() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case '-' -> throw new RedisRefusal(rest);
            case ':' -> Long.valueOf(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> array(Integer.parseInt(rest));
            default -> throw new IOException("no RESP2: " + line);
        };
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length);
        line();
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private @Nullable List<@Nullable Object> array(int size) throws IOException {
        if (size < 0) {
            return null;
        }
        List<@Nullable Object> items = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            items.add(read());
        }
        return items;
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection");
            }
            line.write(next);
        }
        String text = line.toString(StandardCharsets.UTF_8);
        return text.substring(0, text.length() - 1);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close a connection", e);
        }
    }
}

package dev.latchkey.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** The way of one actor to the {@link Register}, which no fault strikes. Not thread-safe. */
final class RegisterClient implements AutoCloseable {

    private final Socket socket;
    private final PrintStream requests;
    private final BufferedReader answers;

    RegisterClient(int port) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            requests = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
            answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("the register cannot be reached", e);
        }
    }

    /** Reads the value; empty if the token is refused. */
    OptionalLong read(String resource, String hold, OptionalLong token) {
        String[] answer = ask(Register.READ, resource, hold, token, 0);
        return answer[0].equals(Register.ACCEPTED) ? OptionalLong.of(Long.parseLong(answer[1])) : OptionalLong.empty();
    }

    /** Writes a value that was read before, increased by one. Whether it was let is for the judge to know. */
    void write(String resource, String hold, OptionalLong token, long base) {
        var unused = ask(Register.WRITE, resource, hold, token, base);
    }

    private String[] ask(String verb, String resource, String hold, OptionalLong token, long base) {
        String shown = token.isPresent() ? Long.toString(token.getAsLong()) : EventLog.NONE;
        requests.println(String.join(" ", verb, resource, hold, shown, Long.toString(base)));
        try {
            String answer = answers.readLine();
            if (answer == null) {
                throw new IOException("it has closed the connection");
            }
            return answer.split(" ", -1);
        } catch (IOException e) {
            throw new UncheckedIOException("the register did not answer", e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not leave the register", e);
        }
    }
}

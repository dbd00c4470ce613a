package dev.latchkey.memcached;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A Memcached server that answers while its clock stands still, as after a pause, before the thread that sets the clock has
 * its turn: it is told that it is some time ago, by libfaketime, and waits for the second that comes next.
 */
final class SlowClockServer implements AutoCloseable {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final String NOW = "+0";
    private static final String LONG_AGO = "-100";

    private final Path offset;
    private final ServerAddress address;
    private final Process process;

    SlowClockServer(Path directory) throws IOException {
        offset = directory.resolve("offset");
        set(NOW);
        address = ServerAddress.unused();
        ProcessBuilder builder = new ProcessBuilder(
                        program(), "-l", address.host(), "-p", String.valueOf(address.port()), "-U", "0", "-t", "2")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("memcached.log").toFile());
        // As root it wants to be told to stay so; as anybody else it takes no notice.
        builder.command().addAll(List.of("-u", System.getProperty("user.name")));
        builder.environment().put("LD_PRELOAD", faketime());
        builder.environment().put("FAKETIME_TIMESTAMP_FILE", offset.toString());
        builder.environment().put("FAKETIME_NO_CACHE", "1");
        process = builder.start();
        Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> second() > 0);
    }

    ServerAddress address() {
        return address;
    }

    /** Its clock stands still from now on, for a minute at least. */
    void stopClock() throws IOException {
        set(LONG_AGO);
    }

    /** Its clock is set again; returns when that has been done. */
    void letClockGoOn() throws IOException {
        letClockGoOn(NOW);
    }

    /** Its clock goes on from where it stood, as that of a machine that was suspended with all its clocks. */
    void letClockGoOnLate(Duration suspended) throws IOException {
        letClockGoOn("-" + suspended.toSeconds());
    }

    private void letClockGoOn(String value) throws IOException {
        long stopped = second();
        set(value);
        Awaitility.await().atMost(LIMIT).until(() -> second() > stopped);
    }

    /** What its clock shows. Each call is a new connection, which wakes the thread that sets the clock. */
    long second() throws IOException {
        return number("stats", "STAT time ");
    }

    /** For how long an item is still stored, by its clock. */
    long secondsLeft(String item) throws IOException {
        return number("mg " + item + " t", "HD t");
    }

    private long number(String command, String before) throws IOException {
        try (Socket socket = address.connect()) {
            socket.setSoTimeout((int) LIMIT.toMillis());
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith(before)) {
                    return Long.parseLong(line.substring(before.length()));
                }
            }
            throw new SocketTimeoutException("no \"" + before + "\" in the answer to " + command);
        }
    }

    private void set(String value) throws IOException {
        Path written = offset.resolveSibling("written");
        Files.writeString(written, value + "\n");
        Files.move(written, offset, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String program() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("") + File.pathSeparator + "/usr/sbin";
        return Stream.of(path.split(File.pathSeparator))
                .map(directory -> Path.of(directory, "memcached"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no memcached here: \"apt-get install memcached\""))
                .toString();
    }

    private static String faketime() throws IOException {
        try (Stream<Path> files =
                Files.find(Path.of("/usr/lib"), 4, (path, attributes) -> path.endsWith("faketime/libfaketime.so.1"))) {
            return files.findFirst()
                    .orElseThrow(() -> new AssertionError("no libfaketime here: \"apt-get install faketime\""))
                    .toString();
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}

package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Many locks on a Redis of their own, and {@code lock serve} as a process with the heap that the launcher gives it. */
final class ServedRedis implements AutoCloseable {

    private static final Duration LONG_TTL = Duration.ofHours(1);

    final RedisServer redis = RedisServer.start();
    private final String dsn = PatientDsn.redis(redis.dsn());
    private final LockFactory locks = LockFactory.connect(dsn);
    private final Path errors;
    private final Process serve;
    private final int port;

    ServedRedis(int held, Path directory) throws IOException {
        for (int i = 0; i < held; i++) {
            assertThat(locks.createLock("order-" + i, LONG_TTL).tryAcquire()).isTrue();
        }
        errors = directory.resolve("errors");
        serve = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-cp",
                        "target/lock-cli.jar:target/lib/*",
                        "dev.latchkey.cli.Main",
                        "serve",
                        "--port",
                        "0",
                        "--store",
                        dsn))
                .redirectError(errors.toFile())
                .start();
        String url =
                new BufferedReader(new InputStreamReader(serve.getInputStream(), StandardCharsets.UTF_8)).readLine();
        assertThat(url).as(Files.readString(errors)).startsWith("http://");
        port = URI.create(url).getPort();
    }

    String errors() throws IOException {
        return Files.readString(errors);
    }

    boolean isRunning() {
        return serve.isAlive();
    }

    /** Sends a request, and reads nothing. */
    Socket ask(String path, int receiveBuffer) throws IOException {
        Socket socket = new Socket();
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        String request = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        return socket;
    }

    @Override
    public void close() {
        serve.destroyForcibly();
        locks.close();
        redis.close();
    }
}

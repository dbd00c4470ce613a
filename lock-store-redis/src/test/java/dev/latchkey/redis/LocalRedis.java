package dev.latchkey.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A redis-server of this machine's, for the tests of one class. */
final class LocalRedis implements AutoCloseable {

    private final int port;
    private final Process process;
    private final RedisClient client;

    private LocalRedis(int port, Process process) {
        this.port = port;
        this.process = process;
        this.client = RedisClient.create("redis://127.0.0.1:" + port);
    }

    static LocalRedis start(String... options) {
        try {
            int port;
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            Path directory = Files.createTempDirectory("redis");
            List<String> command = new ArrayList<>(List.of(
                    "redis-server",
                    "--bind",
                    "127.0.0.1",
                    "--port",
                    Integer.toString(port),
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--dir",
                    directory.toString(),
                    "--daemonize",
                    "no"));
            command.addAll(List.of(options));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
            LocalRedis redis = new LocalRedis(port, process);
            Awaitility.await("redis-server to answer")
                    .atMost(20, TimeUnit.SECONDS)
                    .until(redis::answers);
            return redis;
        } catch (IOException e) {
            throw new IllegalStateException("redis-server cannot be started: apt-get install redis-server", e);
        }
    }

    private boolean answers() {
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return connection.sync().ping().equals("PONG");
        } catch (RuntimeException e) {
            if (!process.isAlive()) {
                throw new IllegalStateException("redis-server ended", e);
            }
            return false;
        }
    }

    int port() {
        return port;
    }

    String dsn() {
        return "redis://127.0.0.1:" + port;
    }

    /** Connected to it; closed with it. */
    RedisClient client() {
        return client;
    }

    @Override
    public void close() {
        client.shutdown(0, 2, TimeUnit.SECONDS);
        process.destroyForcibly();
    }
}

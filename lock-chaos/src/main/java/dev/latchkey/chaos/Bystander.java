package dev.latchkey.chaos;

import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisRefusal;
import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Does something on a server of its own accord while others use it, again and again, over a new connection after a fault. */
final class Bystander implements AutoCloseable {

    private static final long RETRY_NANOS = Duration.ofMillis(20).toNanos();

    private final ServerAddress server;
    private final Consumer<RedisConnection> work;
    private final Thread thread = new Thread(this::run, "bystander");
    private volatile @Nullable RedisConnection connection;
    private volatile boolean closed;

    Bystander(ServerAddress server, Consumer<RedisConnection> work) {
        this.server = server;
        this.work = work;
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        while (!closed) {
            try (RedisConnection open = RedisConnection.open(server)) {
                connection = open;
                while (!closed) {
                    work.accept(open);
                }
            } catch (IOException | UncheckedIOException | RedisRefusal fault) {
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        RedisConnection open = connection;
        if (open != null) {
            open.close();
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package dev.latchkey.flock;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A store over a directory of its own, and another process that uses the same directory. */
abstract class BesideAnotherProcess {

    static final Duration TTL = Duration.ofMinutes(5);
    static final Duration LONG_WAIT = TimeLimits.LIMIT;

    @TempDir
    Path directory;

    FlockStore store;
    SecondProcess other;
    RemoteLock remote;
    final Key key = Key.of("report");

    @BeforeEach
    void open() {
        store = new FlockStore(directory);
        other = SecondProcess.connect(dsn());
        remote = other.lock("report", TTL);
    }

    @AfterEach
    void close() {
        other.close();
        store.close();
    }

    /** Reads the record as the store would; opening the file by another channel would drop the locks held here. */
    long lastFencingToken() throws IOException {
        return store.last("report").fencingToken();
    }

    String dsn() {
        return "flock://" + directory;
    }

    /** A wait in a thread of its own, which has begun to wait or ended. */
    record Waiting(Thread thread, CompletableFuture<Response> result) {

        static final String NAME = "test-waiter";

        static Waiting start(FlockStore store, Request request, Duration maxWait) {
            return start(store, request, maxWait, new CompletableFuture<>());
        }

        static Waiting start(FlockStore store, Request request, Duration maxWait, CompletableFuture<Void> withdrawn) {
            CompletableFuture<Response> result = new CompletableFuture<>();
            Thread thread = new Thread(
                    () -> {
                        try {
                            result.complete(store.waitAndSave(request, maxWait, withdrawn));
                        } catch (Exception e) {
                            result.completeExceptionally(e);
                        }
                    },
                    NAME);
            thread.setDaemon(true);
            thread.start();
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> result.isDone() || thread.getState() == Thread.State.TIMED_WAITING);
            return new Waiting(thread, result);
        }

        boolean isDone() {
            return result.isDone();
        }

        Response response() throws Exception {
            try {
                return result.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw (Exception) Objects.requireNonNull(e.getCause());
            }
        }
    }
}

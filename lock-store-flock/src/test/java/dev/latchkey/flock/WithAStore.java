package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;

import dev.latchkey.Key;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A store over a directory of its own. */
abstract class WithAStore {

    static final Duration LONG_WAIT = TimeLimits.LIMIT;

    @TempDir
    Path directory;

    FlockStore store;
    final Key key = Key.of("report");

    @BeforeEach
    void open() {
        store = new FlockStore(directory);
    }

    @AfterEach
    void close() {
        store.close();
    }

    FutureTask<Response> waiting(FlockStore of, Key waiter) {
        return waiting(of, waiter, LONG_WAIT);
    }

    FutureTask<Response> waiting(FlockStore of, Key waiter, Duration maxWait) {
        FutureTask<Response> task =
                new FutureTask<>(() -> of.waitAndSave(exclusive(waiter), maxWait, new CompletableFuture<>()));
        Thread thread = new Thread(task, "waiter");
        thread.setDaemon(true);
        thread.start();
        Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return task;
    }

    List<Path> openFiles() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .map(WithAStore::target)
                    .filter(target -> target.startsWith(directory))
                    .toList();
        }
    }

    static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return descriptor;
        }
    }

    /** The store looks at the path once in a millisecond. */
    static void letTheLastLookGrowOld() {
        long start = System.nanoTime();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .until(() -> System.nanoTime() - start > 2 * ResourceFile.LOOK_COUNTS_NANOS);
    }

    Path file() {
        return store.fileOf("report");
    }

    static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}

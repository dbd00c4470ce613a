package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.Response;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that can make no more threads: the JVM says so by an error where one is started. */
class NoThreadsTest {

    private final AtomicInteger refused = new AtomicInteger();
    private final Executor threads = task -> {
        refused.incrementAndGet();
        throw new OutOfMemoryError("unable to create native thread (planted)");
    };

    @TempDir
    Path directory;

    /** It stayed in the queue when it had gone, so that nobody came after it, and was granted the file in the end. */
    @Test
    void givenHeldElsewhere_whenNoThreadIsToBeHadForTheWait_thenItLooksUntilItIsFree() throws Exception {
        Key holder = Key.of("report");
        ResourceFiles names = new ResourceFiles(new LockDirectory(directory), OpenFiles.OF_THIS_JVM);
        ResourceFile name = names.get("report");
        ReentrantLock guard = new ReentrantLock();
        guard.lock();
        try (FlockStore elsewhere = new FlockStore(directory);
                RandomAccessFile file = new RandomAccessFile(name.path().toFile(), "rw")) {
            granted(elsewhere.save(exclusive(holder)));
            KernelLock kernel =
                    new KernelLock(OpenFiles.OF_THIS_JVM, file, name.file().identity());
            LockEntry room = new LockEntry(guard, kernel, threads);
            Waiter waiter = new Waiter(exclusive(Key.of("report")), name, null, guard.newCondition());
            assertThat(room.enqueue(waiter)).isTrue();
            room.serve();
            assertThat(refused).hasValue(1);
            assertThat(waiter.outcome()).isInstanceOf(Response.Conflicted.class);

            assertThat(elsewhere.delete(holder)).isTrue();
            waiter.await(room, System.nanoTime() + TimeUnit.SECONDS.toNanos(30));
            room.leave(waiter);

            assertThat(waiter.outcome()).isInstanceOf(Response.Granted.class);
        } finally {
            guard.unlock();
            names.close();
        }
    }
}

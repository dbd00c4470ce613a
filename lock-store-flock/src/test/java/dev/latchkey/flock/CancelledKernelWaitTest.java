package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The thread of a wait in the kernel has checked that the wait is still wanted, and is not yet in the kernel when the wait is
 * cancelled. It closes the channel as soon as it runs again, which drops all locks of this process on the file.
 */
class CancelledKernelWaitTest {

    private final Semaphore mayEnterTheKernel = new Semaphore(0);
    private final PausingGuard guard = new PausingGuard();
    private final Key key = Key.of("report");

    @TempDir
    Path directory;

    private ResourceFiles names;
    private ResourceFile name;
    private RandomAccessFile file;
    private LockEntry entry;
    private volatile @Nullable Thread kernelThread;
    private FutureTask<Void> leaving;

    @BeforeEach
    void cancelAWaitThatIsNotYetInTheKernel() throws Exception {
        names = new ResourceFiles(new LockDirectory(directory), OpenFiles.OF_THIS_JVM);
        name = names.get("report");
        file = new RandomAccessFile(name.path().toFile(), "rw");
        KernelLock kernel =
                new KernelLock(OpenFiles.OF_THIS_JVM, file, name.file().identity());
        entry = new LockEntry(guard, kernel, this::startPausing);
        Waiter waiter = new Waiter(exclusive(Key.of("report")), name, null, guard.newCondition());
        try (FlockStore elsewhere = new FlockStore(directory)) {
            granted(elsewhere.save(exclusive(Key.of("report"))));
            underGuard(() -> {
                assertThat(entry.enqueue(waiter)).isTrue();
                entry.serve();
                return null;
            });
            Awaitility.await().until(mayEnterTheKernel::hasQueuedThreads);
            leaving = start(() -> {
                entry.leave(waiter);
                return null;
            });
            Awaitility.await().until(() -> guard.waitingForTheChannel() == 1);
        }
    }

    @AfterEach
    void close() throws Exception {
        mayEnterTheKernel.release();
        leaving.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        names.close();
        file.close();
    }

    /** Two holders: the channel was closed after it had acquired the lock, and another process could acquire it, too. */
    @Test
    void whenAnotherAcquires_thenGrantedWhenTheChannelIsClosedAndHeldInTheKernel() throws Exception {
        FutureTask<Response> acquiring = start(() -> entry.save(exclusive(key), name));

        assertThat(afterTheChannelIsClosed(acquiring)).isInstanceOf(Response.Granted.class);
        assertThat(KernelView.heldHere(name.path())).containsExactly(LockMode.EXCLUSIVE);
        underGuard(() -> entry.delete(name.owner(key), name));
    }

    @Test
    void whenTheStoreIsClosedMeanwhile_thenTheAcquireStartsOver() throws Exception {
        FutureTask<Response> acquiring = start(() -> entry.save(exclusive(key), name));
        Awaitility.await().until(() -> guard.waitingForTheChannel() == 2);

        names.close();

        assertThat(afterTheChannelIsClosed(acquiring)).isNull();
        assertThat(KernelView.heldHere(name.path())).isEmpty();
    }

    /** It read a file that was being closed. */
    @Test
    void whenTheRecordIsRead_thenReadWhenTheChannelIsClosed() throws Exception {
        FutureTask<FileView> looking = start(entry::look);

        assertThat(afterTheChannelIsClosed(looking).last()).isEqualTo(FileRecord.Entry.NONE);
    }

    /** It said that another process holds the file, which is free. */
    @Test
    void whenTheModeElsewhereIsAskedFor_thenTheFileIsFree() throws Exception {
        FutureTask<Optional<LockMode>> looking = start(entry::modeElsewhere);

        assertThat(afterTheChannelIsClosed(looking)).isEmpty();
    }

    private <T> T afterTheChannelIsClosed(FutureTask<T> call) throws Exception {
        Awaitility.await().until(() -> call.isDone() || guard.waitingForTheChannel() == 2);
        assertThat(call.isDone()).as("done before the channel is closed").isFalse();
        mayEnterTheKernel.release();
        return call.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private void startPausing(Runnable wait) {
        Thread thread = new Thread(wait, "kernel-wait");
        thread.setDaemon(true);
        kernelThread = thread;
        thread.start();
    }

    private <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(() -> underGuard(call));
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private <T> T underGuard(Callable<T> call) throws Exception {
        guard.lock();
        try {
            return call.call();
        } finally {
            guard.unlock();
        }
    }

    /** Stops the thread of the wait when it first gives up the guard, which is before it enters the kernel. */
    private final class PausingGuard extends ReentrantLock {

        private static final long serialVersionUID = 1L;

        private transient @Nullable Condition first;
        private boolean paused;

        @Override
        public Condition newCondition() {
            Condition made = super.newCondition();
            first = first == null ? made : first;
            return made;
        }

        @Override
        public void unlock() {
            boolean pauses = Thread.currentThread() == kernelThread && !paused;
            paused |= pauses;
            super.unlock();
            if (pauses) {
                mayEnterTheKernel.acquireUninterruptibly();
            }
        }

        int waitingForTheChannel() {
            lock();
            try {
                return getWaitQueueLength(Objects.requireNonNull(first));
            } finally {
                unlock();
            }
        }
    }
}

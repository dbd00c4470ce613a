package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.Reply;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What only shows between processes: the queue of the kernel, and the cost of a wait. */
class FlockProcessesIT extends BesideAnotherProcess {

    @Test
    void givenWaitInTheKernel_whenWithdrawn_thenNothingIsLeft() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        Waiting waiting = Waiting.start(store, exclusive(key), LONG_WAIT, withdrawn);
        awaitWaitInTheKernel();

        withdrawn.complete(null);

        assertThat(waiting.response()).isInstanceOf(Response.Conflicted.class);
        assertNothingIsLeft();
    }

    @Test
    void givenWaitInTheKernel_whenInterrupted_thenNothingIsLeft() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        Waiting waiting = Waiting.start(store, exclusive(key), LONG_WAIT);
        awaitWaitInTheKernel();

        waiting.thread().interrupt();

        assertThatThrownBy(waiting::response).isInstanceOf(InterruptedException.class);
        assertNothingIsLeft();
    }

    @Test
    void givenWaitInTheKernel_whenItsTimeIsOver_thenNothingIsLeft() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        Waiting waiting = Waiting.start(store, exclusive(key), TimeLimits.scaled(Duration.ofMillis(300)));
        awaitWaitInTheKernelOrEndOf(waiting);

        assertThat(waiting.response()).isInstanceOf(Response.Conflicted.class);
        assertNothingIsLeft();
    }

    @Test
    void givenWaitInTheKernel_whenTheStoreIsClosed_thenNothingIsLeft() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        Waiting waiting = Waiting.start(store, exclusive(key), LONG_WAIT);
        awaitWaitInTheKernel();

        store.close();

        assertThatThrownBy(waiting::response).hasMessageContaining("closed");
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() throws IOException {
        assertThat(remote.release()).isTrue();
        assertThat(remote.tryAcquire()).isTrue();
        assertThat(KernelView.heldHere(store.fileOf("report"))).isEmpty();
        store.close();
        assertThat(openFiles()).isEmpty();
        Awaitility.await().until(() -> waitThreads().isEmpty());
    }

    @Test
    void givenWritersAndReadersWait_whenTheHolderReleases_thenInTheirOrder() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        Key writer = Key.of("report");
        Waiting first = Waiting.start(store, shared(key), LONG_WAIT);
        awaitWaitInTheKernel();
        Waiting second = Waiting.start(store, exclusive(writer), LONG_WAIT);

        assertThat(remote.release()).isTrue();

        assertThat(first.response()).isInstanceOf(Response.Granted.class);
        assertThat(second.isDone()).isFalse();
        assertThat(store.delete(key)).isTrue();
        assertThat(second.response()).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenAReaderWaitsBehindAWriter_whenTheWriterIsWithdrawn_thenTheReaderReadsBesideTheOther() throws Exception {
        assertThat(remote.tryAcquireShared()).isTrue();
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        Waiting writer = Waiting.start(store, exclusive(key), LONG_WAIT, withdrawn);
        awaitWaitInTheKernel();
        Waiting reader = Waiting.start(store, shared(Key.of("report")), LONG_WAIT);

        withdrawn.complete(null);

        assertThat(writer.response()).isInstanceOf(Response.Conflicted.class);
        assertThat(reader.response()).isInstanceOf(Response.Granted.class);
    }

    /** Threads of two processes that wait crosswise look like a deadlock to the kernel, though other threads hold. */
    @Test
    void givenTheKernelSuspectsADeadlock_whenItIsNone_thenBothWaitsEndWell() throws Exception {
        RemoteLock remoteSecond = other.lock("second", TTL);
        assertThat(remoteSecond.tryAcquire()).isTrue();
        granted(store.save(exclusive(key)));
        Reply remoteWait = remote.startAcquire(LONG_WAIT);
        remoteWait.awaitWaiting();
        Key second = Key.of("second");
        Waiting localWait = Waiting.start(store, exclusive(second), LONG_WAIT);

        assertThat(remoteSecond.release()).isTrue();

        assertThat(localWait.response()).isInstanceOf(Response.Granted.class);
        assertThat(remoteWait.isDone()).isFalse();
        assertThat(store.delete(key)).isTrue();
        assertThat(remoteWait.isYes()).isTrue();
    }

    @Test
    void givenThreadsHereNeverLetGo_whenAnotherProcessWaits_thenItGetsItsTurn() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        List<Thread> threads = Stream.generate(() -> new Thread(() -> takeAgainAndAgain(ended)))
                .limit(3)
                .toList();
        threads.forEach(Thread::start);
        try {
            for (int i = 0; i < 5; i++) {
                assertThat(remote.startAcquire(TimeLimits.LIMIT).isYes()).isTrue();
                assertThat(remote.release()).isTrue();
            }
        } finally {
            ended.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private void takeAgainAndAgain(AtomicBoolean ended) {
        Key own = Key.of("report");
        while (!ended.get()) {
            try {
                granted(store.waitAndSave(exclusive(own), LONG_WAIT, new CompletableFuture<>()));
            } catch (InterruptedException e) {
                return;
            }
            store.delete(own);
        }
    }

    @Test
    void givenWaitInTheKernel_whenItLasts_thenNoThreadOfItRuns() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        Waiting waiting = Waiting.start(store, exclusive(key), LONG_WAIT);
        awaitWaitInTheKernel();
        // The last look, for a thread may still be on its way to sleep when it is first looked at.
        AtomicLong last = new AtomicLong();

        Awaitility.await()
                .during(Duration.ofSeconds(2))
                .pollInterval(Duration.ofMillis(500))
                .until(FlockProcessesIT::totalSwitches, now -> now > 0 && last.getAndSet(now) == now);

        assertThat(remote.release()).isTrue();
        assertThat(waiting.response()).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenHeldByOthers_whenHoldersAreListed_thenEachWithItsProcess() throws Exception {
        assertThat(remote.tryAcquire()).isTrue();
        long token = remote.fencingToken().orElseThrow();
        assertThat(store.holders("report"))
                .containsExactly(new Holder(
                        LockMode.EXCLUSIVE,
                        OptionalLong.of(token),
                        Optional.empty(),
                        Optional.of("pid " + other.pid())));

        assertThat(remote.release()).isTrue();
        assertThat(remote.tryAcquireShared()).isTrue();
        granted(store.save(shared(key)));

        assertThat(store.holders("report")).extracting(Holder::mode).containsExactly(LockMode.SHARED, LockMode.SHARED);
        assertThat(store.holders("report"))
                .extracting(holder -> holder.description().orElseThrow())
                .containsExactlyInAnyOrder(
                        "pid " + other.pid(), "pid " + ProcessHandle.current().pid());
        assertThat(remote.isAcquired()).isTrue();
    }

    /** The kernel leaves one out if another lock is released while it hands out the next part. */
    @Test
    void givenALongListThatLacksTheHolder_whenHoldersAreListed_thenTheOneFromItsRecord() throws Exception {
        Path list = directory.resolve("list");
        Files.writeString(list, "1: POSIX  ADVISORY  WRITE 4711 fe:00:131 1073741824 1073741824\n".repeat(60));
        try (FlockStore elsewhere = new FlockStore(directory, list)) {
            assertThat(remote.tryAcquire()).isTrue();

            assertThat(elsewhere.holders("report"))
                    .extracting(holder -> holder.description().orElseThrow())
                    .singleElement()
                    .asString()
                    .startsWith("pid " + other.pid());

            assertThat(remote.release()).isTrue();
            assertThat(elsewhere.holders("report")).isEmpty();
        }
    }

    @Test
    void givenNoListOfLocks_whenHoldersAreListed_thenTheExclusiveOneFromItsRecord() throws Exception {
        try (FlockStore elsewhere = new FlockStore(directory, directory.resolve("no such list"))) {
            assertThat(remote.tryAcquire()).isTrue();
            assertThat(elsewhere.holders("report"))
                    .extracting(holder -> holder.description().orElseThrow())
                    .containsExactly("pid " + other.pid());

            assertThat(remote.release()).isTrue();

            assertThat(elsewhere.holders("report")).isEmpty();
            assertThat(remote.tryAcquire()).isTrue();
        }
    }

    private static void awaitWaitInTheKernel() {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(2))
                .until(() -> waitThreads().stream().anyMatch(FlockProcessesIT::isInTheKernel));
    }

    /** On a busy machine, the wait may be over before anybody looks. */
    private static void awaitWaitInTheKernelOrEndOf(Waiting waiting) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(2))
                .until(() -> !waiting.thread().isAlive()
                        || waitThreads().stream().anyMatch(FlockProcessesIT::isInTheKernel));
    }

    private static boolean isInTheKernel(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("lock0"));
    }

    private static List<Thread> waitThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("latchkey-flock-wait"))
                .toList();
    }

    /** How often the threads of a wait have gone to sleep or lost the CPU: each look at the lock would be one more. */
    private static long totalSwitches() throws IOException {
        long sum = 0;
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                sum += switches(task);
            }
        }
        return sum;
    }

    private static long switches(Path task) throws IOException {
        try {
            // The kernel keeps the first 15 characters of a thread's name.
            String name = Files.readString(task.resolve("comm")).strip();
            return name.equals("latchkey-flock-") || name.equals(Waiting.NAME)
                    ? Files.readAllLines(task.resolve("status")).stream()
                            .filter(line -> line.contains("ctxt_switches"))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                            .sum()
                    : 0;
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private List<Path> openFiles() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .map(FlockProcessesIT::target)
                    .filter(target -> target.startsWith(directory))
                    .toList();
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return descriptor;
        }
    }
}

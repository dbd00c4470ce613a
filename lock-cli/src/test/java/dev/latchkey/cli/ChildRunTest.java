package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildRunTest {

    private static final Duration MIN_HOLD = Duration.ofMillis(100);

    @TempDir
    Path directory = Path.of("");

    private final List<String> deleted = new CopyOnWriteArrayList<>();

    @Test
    void givenKeysTravelWithoutALease_whenMinHoldIsOver_thenReleasedHereForNobodyElseWould() throws Exception {
        int exitCode = run(new Endless());

        assertThat(exitCode).isZero();
        assertThat(deleted).containsExactly("x");
    }

    @Test
    void givenTheStoreKeepsWholeSecondsOnly_whenMinHoldIsShorter_thenTheExitCodeIsTheCommands() throws Exception {
        int exitCode = run(new WholeSeconds());

        assertThat(exitCode).isZero();
        assertThat(deleted).containsExactly("x");
    }

    /** Closing the factory releases what is held, and the store may answer by then. */
    @Test
    @Tag("slow")
    void givenTheStoreFailsToKeepTheRest_whenTheCommandEnded_thenHeldForMinHoldAllTheSame() throws Exception {
        Duration minHold = Duration.ofMillis(2_500);
        long start = System.nanoTime();

        int exitCode = run(new Unwilling(), minHold);

        assertThat(exitCode).isZero();
        assertThat(deleted).containsExactly("x");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(minHold);
    }

    /** The lock was released at once, and the exit code was that of a wrong usage. */
    @Test
    void givenTheStoreCannotKeepTheRestThatLong_whenTheCommandEnded_thenHeldHereUntilASignal() throws Exception {
        AMonthAtMost store = new AMonthAtMost();
        LockFactory locks = new LockFactory(store);
        Lock lock = locks.createLock("x");
        assertThat(lock.tryAcquire()).isTrue();
        Inbox inbox = new Inbox();
        FutureTask<Integer> run = new FutureTask<>(
                () -> childRun(locks, lock, Duration.ofDays(31), inbox).of(ChildCommand.of(List.of("true"))));
        Thread runner = new Thread(run, "runner");
        runner.setDaemon(true);
        runner.start();
        await().atMost(Cli.PATIENCE)
                .until(() -> run.isDone()
                        || (store.refused.getCount() == 0 && runner.getState() == Thread.State.TIMED_WAITING));
        assertThat(run.isDone()).isFalse();
        assertThat(deleted).isEmpty();

        inbox.add(new Event.Signalled(UnixSignal.TERM, System.nanoTime()));

        assertThat(run.get(Cli.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isZero();
        assertThat(deleted).containsExactly("x");
    }

    /** As when the process was frozen between the grant and the start, and nobody has told of the loss yet. */
    @Test
    void givenTheLeaseEndedSinceTheGrant_whenTheCommandIsToStart_thenItIsNotStartedAndLost() {
        LockFactory locks = new LockFactory(new InMemoryStore());
        Lock lock = locks.createLock("x", Duration.ofMillis(50));
        assertThat(lock.tryAcquire()).isTrue();
        await().atMost(Cli.PATIENCE)
                .until(() -> lock.remainingLifetime().orElseThrow().isZero());
        Path ran = directory.resolve("ran");

        assertThatExceptionOfType(CommandException.class)
                .isThrownBy(() ->
                        childRun(locks, lock, Duration.ZERO).of(ChildCommand.of(List.of("touch", ran.toString()))))
                .satisfies(e -> assertThat(e.exitCode()).isEqualTo(ExitCode.LOST));

        assertThat(ran).doesNotExist();
    }

    @Test
    void givenItIsLostAfterItsRefresh_whenTheRestIsToBeLeftToTheStore_thenLostAndNotADefect() throws Exception {
        int exitCode = run(new LostWhenTransferred(), Duration.ofHours(1));

        assertThat(exitCode).isEqualTo(ExitCode.LOST.number());
    }

    private int run(PersistingStore store) throws InterruptedException {
        return run(store, MIN_HOLD);
    }

    private int run(PersistingStore store, Duration minHold) throws InterruptedException {
        LockFactory locks = new LockFactory(store);
        Lock lock = locks.createLock("x");
        assertThat(lock.tryAcquire()).isTrue();
        return childRun(locks, lock, minHold).of(ChildCommand.of(List.of("true")));
    }

    private static ChildRun childRun(LockFactory locks, Lock lock, Duration minHold) {
        return childRun(locks, lock, minHold, new Inbox());
    }

    private static ChildRun childRun(LockFactory locks, Lock lock, Duration minHold, Inbox inbox) {
        RunRules rules = new RunRules(Duration.ofSeconds(5), OnLost.TERM, minHold, LockTarget.NO_LIMIT);
        return new ChildRun(
                new AcquireAnswer.Acquired(locks, lock, Duration.ZERO), rules, inbox, new StoreOptions().console());
    }

    /** Its keys mean something in other processes, and its holds end by release alone. */
    private class Endless implements PersistingStore {

        private final NullStore granting = new NullStore();

        @Override
        public Response save(Request request) {
            return granting.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return deleted.add(key.resource());
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return granting.find(key);
        }
    }

    /** Does not answer for a moment. */
    private final class Unwilling extends WholeSeconds {

        @Override
        public Response refresh(Request request) {
            throw new LockStorageException(request.key().resource(), "planted", null);
        }
    }

    /** Refuses a longer TTL, as Memcached. */
    private final class AMonthAtMost extends WholeSeconds {

        private final CountDownLatch refused = new CountDownLatch(1);

        @Override
        public Response refresh(Request request) {
            if (request.ttl().compareTo(Duration.ofDays(30)) > 0) {
                refused.countDown();
                throw new IllegalArgumentException("a TTL of " + request.ttl() + " is too long (planted)");
            }
            return super.refresh(request);
        }
    }

    /** Its session ends as soon as the key is to be given away, as when the process is frozen just before. */
    private final class LostWhenTransferred extends WholeSeconds {

        @Override
        public Response refresh(Request request) {
            Lease lease = new Lease(
                    OptionalLong.of(System.nanoTime()), request.ttl(), Optional.empty(), LostWhenTransferred::isLive);
            return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), lease);
        }

        private static boolean isLive() {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.noneMatch(frame -> frame.getMethodName().equals("transferKey")));
        }
    }

    /** Cannot keep a TTL below a second, as memcached. */
    private class WholeSeconds extends Endless implements ExpiringStore {

        @Override
        public Response save(Request request) {
            return granted(request);
        }

        @Override
        public Response refresh(Request request) {
            if (request.ttl().compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException("a TTL of " + request.ttl() + " is less than a second");
            }
            return granted(request);
        }

        private static Response granted(Request request) {
            return new Response.Granted(
                    LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.timed(System.nanoTime(), request.ttl()));
        }
    }
}

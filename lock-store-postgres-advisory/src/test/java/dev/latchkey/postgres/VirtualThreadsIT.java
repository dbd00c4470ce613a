package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.TimeLimits;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Callers on virtual threads, where there are any: an interrupt must not close the connection all share. */
class VirtualThreadsIT {

    private final String resource = "virtual-" + UUID.randomUUID();
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private PostgresAdvisoryStore store;
    private LockFactory locks;
    private Lock beside;

    @BeforeEach
    void open() {
        store = Stores.open(PostgresServer.sharedDsn());
        locks = new LockFactory(store);
        beside = locks.lock(resource + "-beside").onLost(losses::add).create();
        assertThat(beside.tryAcquire()).isTrue();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
    }

    @Test
    void givenInterruptFlag_whenAcquiredAndReleased_thenItWorksAndNothingElseIsLost() throws Exception {
        Lock lock = locks.createLock(resource);

        FutureTask<Boolean> task = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            return lock.tryAcquire()
                    && lock.isAcquired()
                    && lock.release()
                    && Thread.currentThread().isInterrupted();
        });
        start(task);

        assertThat(task.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(beside.isAcquired()).isTrue();
        assertThat(losses).isEmpty();
    }

    @Test
    void givenManyAreInterruptedAtRandom_whenTheyAreDone_thenNothingElseIsLost() throws Exception {
        FutureTask<Integer> task = new FutureTask<>(() -> {
            int held = 0;
            for (int i = 0; i < 300; i++) {
                Lock lock = locks.createLock(resource);
                if (lock.tryAcquire() && lock.release()) {
                    held++;
                }
            }
            return held;
        });
        Thread thread = start(task);
        while (!task.isDone()) {
            thread.interrupt();
            Thread.onSpinWait();
        }

        assertThat(task.get()).isEqualTo(300);
        assertThat(beside.isAcquired()).isTrue();
    }

    @Test
    void givenWaiting_whenInterrupted_thenNothingIsHeldAndNothingElseIsLost() throws Exception {
        Lock holder = locks.createLock(resource);
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock(resource);
        FutureTask<Lock> task = new FutureTask<>((Callable<Lock>) waiter::acquire);
        Thread thread = start(task);
        Awaitility.await()
                .until(() ->
                        thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);

        thread.interrupt();

        assertThatThrownBy(() -> task.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(holder.release()).isTrue();
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();
        assertThat(beside.isAcquired()).isTrue();
    }

    /** Virtual from Java 21 on. */
    private static Thread start(Runnable task) throws ReflectiveOperationException {
        try {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } catch (NoSuchMethodException e) {
            Thread thread = new Thread(task);
            thread.start();
            return thread;
        }
    }
}

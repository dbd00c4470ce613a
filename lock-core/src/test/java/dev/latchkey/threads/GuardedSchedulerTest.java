package dev.latchkey.threads;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Before Java 24 a virtual thread that waits for the guard of the JDK's queue outside of any monitor may stop all others. */
class GuardedSchedulerTest {

    private final GuardedScheduler scheduler =
            new GuardedScheduler(task -> new DaemonThreads().make(task, "latchkey-alarm"));

    @AfterEach
    void close() {
        scheduler.shutdownNow();
    }

    @Test
    void givenItsMonitorIsTaken_whenSomethingIsScheduled_thenItWaitsForThat() throws Exception {
        waitsForTheMonitor(() -> {
            Future<?> unused = scheduler.schedule(() -> {}, 1, TimeUnit.HOURS);
        });
        assertThat(scheduler.getQueue()).hasSize(1);
    }

    @Test
    void givenItsMonitorIsTaken_whenSomethingIsCancelled_thenItWaitsForThat() throws Exception {
        Future<?> task = scheduler.schedule(() -> {}, 1, TimeUnit.HOURS);
        waitsForTheMonitor(() -> task.cancel(false));
        assertThat(scheduler.getQueue()).isEmpty();
    }

    @Test
    void givenItsMonitorIsTaken_whenItIsToRunSomethingAtOnce_thenItWaitsForThat() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        waitsForTheMonitor(() -> scheduler.execute(ran::countDown));
        assertThat(ran.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void givenItsMonitorIsTaken_whenItsThreadIsToStart_thenItWaitsForThat() throws Exception {
        waitsForTheMonitor(scheduler::prestartCoreThread);
        assertThat(scheduler.getPoolSize()).isEqualTo(1);
    }

    private void waitsForTheMonitor(Runnable call) throws Exception {
        Thread caller = new Thread(call, "caller");
        synchronized (scheduler) {
            caller.start();
            await().atMost(LIMIT).until(() -> caller.getState() == Thread.State.BLOCKED || !caller.isAlive());
            assertThat(caller.isAlive()).isTrue();
        }
        caller.join();
    }
}

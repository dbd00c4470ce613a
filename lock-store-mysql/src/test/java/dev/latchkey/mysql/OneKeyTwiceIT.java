package dev.latchkey.mysql;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two callers wait with one key: it holds once, and whoever deletes it leaves nothing in the server. */
class OneKeyTwiceIT {

    private static final String RESOURCE = "report";
    private static final Duration LONG_WAIT = Duration.ofMinutes(5);

    private static MariaDbServer server;

    private final Key key = Key.of(RESOURCE);
    private final Key holder = Key.of(RESOURCE);
    private MySqlLockStore store;
    private MySqlLockStore otherStore;

    @BeforeAll
    static void start() {
        server = MariaDbServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        store = Stores.open(server);
        otherStore = Stores.open(server);
    }

    @AfterEach
    void close() {
        store.close();
        otherStore.close();
    }

    /** The second one waited in the server for the first, and its grant took the place of that in the store. */
    @Test
    void givenTwoOfOneKeyWait_whenTheHolderDeletes_thenBothAreToldOfOneHold() throws Exception {
        granted(otherStore.save(exclusive(holder)));
        BackgroundCall<Response> first = waiting();
        BackgroundCall<Response> second = waiting();

        assertThat(otherStore.delete(holder)).isTrue();

        granted(first.result());
        granted(second.result());
        assertThat(store.delete(key)).isTrue();
        assertThat(store.delete(key)).isFalse();
        assertThat(isFree()).isTrue();
        assertThat(store.resources()).isZero();
    }

    /** The first one is granted it by the server, the second is told of it, and either may have withdrawn just before. */
    @ParameterizedTest
    @CsvSource({"false, true", "true, false", "true, true"})
    void givenTwoOfOneKey_whenSomeHaveWithdrawnAsItIsGranted_thenItStaysForWhomeverWantsIt(
            boolean firstWithdraws, boolean secondWithdraws) throws Exception {
        granted(otherStore.save(exclusive(holder)));
        LockName name = LockName.of(RESOURCE);
        ReentrantLock guard = new ReentrantLock();
        CurrentHold current = new CurrentHold(name, store.sessions());
        ExecutorService threads = Executors.newCachedThreadPool();
        WaitQueue line = new WaitQueue(name, guard, current, store.sessions(), threads);
        List<Waiter> waiters = new ArrayList<>();
        List<BackgroundCall<Response>> waiting = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Waiter waiter = new Waiter(exclusive(key), guard.newCondition());
            waiters.add(waiter);
            waiting.add(BackgroundCall.start(() -> guarded(guard, () -> line.await(waiter, endOfLongWait()))));
            awaitOneWaitingInTheServer();
            waiting.get(i).awaitWaiting();
        }

        guarded(guard, () -> {
            assertThat(otherStore.delete(holder)).isTrue();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(guard::hasQueuedThreads);
            withdraw(waiters.get(0), firstWithdraws);
            withdraw(waiters.get(1), secondWithdraws);
            return true;
        });

        assertThat(waiting.get(0).result() instanceof Response.Granted).isEqualTo(!firstWithdraws);
        assertThat(waiting.get(1).result() instanceof Response.Granted).isEqualTo(!secondWithdraws);
        assertThat(isFree()).isEqualTo(firstWithdraws && secondWithdraws);
        assertThat(guarded(guard, () -> current.of(key) != null)).isEqualTo(!firstWithdraws || !secondWithdraws);
        threads.shutdown();
    }

    private static void withdraw(Waiter waiter, boolean withdraws) {
        if (withdraws) {
            waiter.withdraw();
        }
    }

    /** Something done with the guard of an entry. */
    @FunctionalInterface
    private interface Guarded<T> {
        T run() throws Exception;
    }

    private static <T> T guarded(ReentrantLock guard, Guarded<T> work) throws Exception {
        guard.lock();
        try {
            return work.run();
        } finally {
            guard.unlock();
        }
    }

    private BackgroundCall<Response> waiting() {
        BackgroundCall<Response> call =
                BackgroundCall.start(() -> store.waitAndSave(exclusive(key), LONG_WAIT, new CompletableFuture<>()));
        awaitOneWaitingInTheServer();
        call.awaitWaiting();
        return call;
    }

    private static void awaitOneWaitingInTheServer() {
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> Raw.waiting(server) == 1);
    }

    private static long endOfLongWait() {
        return System.nanoTime() + LONG_WAIT.toNanos();
    }

    private static boolean isFree() throws Exception {
        return Raw.ask(server, "SELECT IS_FREE_LOCK('" + RESOURCE + "')").equals("1");
    }
}

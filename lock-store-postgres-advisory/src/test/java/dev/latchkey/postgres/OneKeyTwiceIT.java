package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Request;
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

    private static PostgresServer server;

    private final Key key = Key.of(RESOURCE);
    private final Key holder = Key.of(RESOURCE);
    private PostgresAdvisoryStore store;
    private PostgresAdvisoryStore otherStore;

    @BeforeAll
    static void start() {
        server = PostgresServer.start();
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

    /** The second one counted in the session a second time, which nobody released. */
    @Test
    void givenTwoReadersOfOneKeyWait_whenTheHolderDeletes_thenBothAreToldOfOneHold() throws Exception {
        granted(store.save(exclusive(holder)));
        BackgroundCall<Response> first = waiting(store, shared(key), 1);
        BackgroundCall<Response> second = waiting(store, shared(key), 1);

        assertThat(store.delete(holder)).isTrue();

        assertThat(granted(first.result()).mode()).isEqualTo(LockMode.SHARED);
        assertThat(granted(second.result()).mode()).isEqualTo(LockMode.SHARED);
        assertThatOneDeletionFreesIt();
    }

    /** It waited on another session, behind the writer, and its grant took the place of the first one. */
    @Test
    void givenAWriterWaitsBehindTwoReadersOfOneKey_whenTheHolderDeletes_thenBothAreToldOfOneHold() throws Exception {
        granted(otherStore.save(exclusive(holder)));
        BackgroundCall<Response> first = waiting(store, shared(key), 1);
        BackgroundCall<Response> second = waiting(store, shared(key), 1);
        Key writer = Key.of(RESOURCE);
        BackgroundCall<Response> writing = waiting(otherStore, exclusive(writer), 2);

        assertThat(otherStore.delete(holder)).isTrue();

        granted(first.result());
        granted(second.result());
        assertThat(store.delete(key)).isTrue();
        granted(writing.result());
        assertThat(otherStore.delete(writer)).isTrue();
        assertThat(locks()).isEqualTo("0");
    }

    @Test
    void givenTwoWritersOfOneKeyWait_whenTheHolderDeletes_thenBothAreToldOfOneHold() throws Exception {
        granted(store.save(exclusive(holder)));
        BackgroundCall<Response> first = waiting(store, exclusive(key), 1);
        BackgroundCall<Response> second = waiting(store, exclusive(key), 1);

        assertThat(store.delete(holder)).isTrue();

        assertThat(granted(first.result()).fencingToken()).isPresent();
        assertThat(granted(second.result()).fencingToken())
                .isEqualTo(granted(first.result()).fencingToken());
        assertThatOneDeletionFreesIt();
    }

    private void assertThatOneDeletionFreesIt() throws Exception {
        assertThat(store.delete(key)).isTrue();
        assertThat(store.delete(key)).isFalse();
        assertThat(locks()).isEqualTo("0");
        granted(otherStore.save(exclusive(Key.of(RESOURCE))));
    }

    /** The first one is granted it by the server, the second is told of it, and either may have withdrawn just before. */
    @ParameterizedTest
    @CsvSource({"false, true", "true, false", "true, true"})
    void givenTwoReadersOfOneKey_whenSomeHaveWithdrawnAsItIsGranted_thenItStaysForWhomeverWantsIt(
            boolean firstWithdraws, boolean secondWithdraws) throws Exception {
        granted(otherStore.save(exclusive(holder)));
        LockId id = LockId.of(RESOURCE);
        ReentrantLock guard = new ReentrantLock();
        Holds holds = new Holds(id, store.sessions());
        ExecutorService threads = Executors.newCachedThreadPool();
        WaitQueue line = new WaitQueue(id, guard, holds, store.sessions(), threads);
        List<Waiter> waiters = new ArrayList<>();
        List<BackgroundCall<Response>> waiting = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Waiter waiter = new Waiter(shared(key), guard.newCondition());
            waiters.add(waiter);
            waiting.add(BackgroundCall.start(() -> guarded(guard, () -> line.await(waiter, endOfLongWait()))));
            awaitWaiting(1);
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
        assertThat(locks()).isEqualTo(firstWithdraws && secondWithdraws ? "0" : "1");
        assertThat(guarded(guard, () -> holds.of(key) != null)).isEqualTo(!firstWithdraws || !secondWithdraws);
        threads.shutdown();
    }

    private static void withdraw(Waiter waiter, boolean withdraws) {
        if (withdraws) {
            waiter.withdraw();
        }
    }

    /** Something done with the guard of a room. */
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

    private static BackgroundCall<Response> waiting(PostgresAdvisoryStore where, Request request, int inServer) {
        BackgroundCall<Response> call =
                BackgroundCall.start(() -> where.waitAndSave(request, LONG_WAIT, new CompletableFuture<>()));
        awaitWaiting(inServer);
        call.awaitWaiting();
        return call;
    }

    private static void awaitWaiting(int inServer) {
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> Raw.waiting(server) == inServer);
    }

    private static long endOfLongWait() {
        return System.nanoTime() + LONG_WAIT.toNanos();
    }

    private static String locks() throws Exception {
        return Raw.ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    }
}

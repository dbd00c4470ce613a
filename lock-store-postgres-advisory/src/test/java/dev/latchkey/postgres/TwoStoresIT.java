package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Holder;
import dev.latchkey.testkit.TimeLimits;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two stores are to each other as two processes are: what only the server's queue decides. */
class TwoStoresIT {

    private static PostgresServer server;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private PostgresAdvisoryStore store;
    private PostgresAdvisoryStore otherStore;
    private LockFactory here;
    private LockFactory there;

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
        here = new LockFactory(store);
        there = new LockFactory(otherStore);
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        store.close();
        otherStore.close();
        threads.shutdownNow();
    }

    @Test
    void givenAWriterWaitsThere_whenAnotherReaderComesHere_thenItDoesNotOvertake() throws Exception {
        Lock reader = reading(here);
        Lock writer = there.createLock("report");
        Future<Lock> writing = start(writer, 1);

        assertThat(here.createLock("report").tryAcquireShared()).isFalse();
        assertThat(reader.release()).isTrue();

        assertThat(writing.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isSameAs(writer);
    }

    @Test
    void givenAWriterWaitsThere_whenTheHolderHereDemotes_thenItSharesAtOnce() throws Exception {
        Lock holder = here.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Future<Lock> writing = start(there.createLock("report"), 1);

        assertThat(holder.tryAcquireShared()).isTrue();

        assertThat(mode(holder)).contains(LockMode.SHARED);
        assertThat(writing.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        assertThat(writing.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS).isAcquired())
                .isTrue();
    }

    @Test
    void givenAWriterWaitsThere_whenTheOnlyReaderPromotes_thenItGoesFirst() throws Exception {
        Lock reader = reading(here);
        Future<Lock> writing = start(there.createLock("report"), 1);

        assertThat(reader.tryAcquire()).isTrue();

        assertThat(mode(reader)).contains(LockMode.EXCLUSIVE);
        assertThat(writing.isDone()).isFalse();
        assertThat(reader.release()).isTrue();
        assertThat(writing.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS).isAcquired())
                .isTrue();
    }

    @Test
    void givenAPromoterWaitsThere_whenOneHereWantsToPromote_thenRefusedAtOnce() throws Exception {
        Lock first = reading(there);
        Lock second = reading(here);
        Future<Lock> promoting = start(first, 1);

        assertThatThrownBy(second::acquire).isInstanceOf(LockConflictedException.class);

        assertThat(second.isAcquired()).isTrue();
        assertThat(second.release()).isTrue();
        assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.EXCLUSIVE);
    }

    @Test
    void givenAPromoterWaitsThere_whenReadersComeHere_thenTheyWait() throws Exception {
        Lock first = reading(there);
        Lock second = reading(here);
        Future<Lock> promoting = start(first, 1);

        assertThat(here.createLock("report").tryAcquireShared()).isFalse();
        assertThat(there.createLock("report").tryAcquireShared()).isFalse();

        assertThat(second.release()).isTrue();
        assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.EXCLUSIVE);
    }

    /** It got in on the session of the promoter, which no wait of that one is kept up by: both held. */
    @Test
    void givenAPromoterWaitsHere_whenAReaderWaitsHereUntilItGetsIn_thenThePromoterWaitsForIt() throws Exception {
        Lock other = reading(there);
        Lock promoter = reading(here);
        Future<Lock> promoting = start(promoter, 1);
        Lock late = here.createLock("report");
        Future<Lock> reading = threads.submit(() -> late.acquireShared());

        assertThat(mode(reading.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.SHARED);
        assertThat(other.release()).isTrue();

        assertThatThrownBy(() -> promoting.get(2, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(late.release()).isTrue();
        assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.EXCLUSIVE);
    }

    /** All were kept waiting with it, for the seconds that one wait of the promoter takes. */
    @Test
    void givenAPromoterWaitsHere_whenAReaderWaitsHereToo_thenOthersAreAnsweredMeanwhile() throws Exception {
        try (PostgresAdvisoryStore patient =
                        new PostgresAdvisoryStore(AlteredCallsIT.source(server.jdbcUrl(), TwoStoresIT::withoutEnd));
                LockFactory patiently = new LockFactory(patient)) {
            Lock other = reading(there);
            Lock promoter = reading(patiently);
            Future<Lock> promoting = start(promoter, 1);
            Lock late = patiently.createLock("report");

            Future<Lock> reading = start(late, 2, Lock::acquireShared);

            assertThat(patiently.createLock("report").tryAcquireShared()).isFalse();
            assertThat(other.release()).isTrue();
            assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                    .contains(LockMode.EXCLUSIVE);
            assertThat(promoter.release()).isTrue();
            assertThat(mode(reading.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                    .contains(LockMode.SHARED);
        }
    }

    /** A promoter's wait does not end and begin anew: a reader that waits would get in between. */
    private static @Nullable Object withoutEnd(Connection connection, Method method, Object[] arguments)
            throws ReflectiveOperationException {
        if (method.getName().equals("prepareStatement")) {
            arguments[0] = String.valueOf(arguments[0]).replace("'lock_timeout', '5000'", "'lock_timeout', '0'");
        }
        return method.invoke(connection, arguments);
    }

    /** The writer keeps new readers out only as long as it waits. */
    @Test
    void givenAPromoterFindsAWriterWaiting_whenThatOneGivesUp_thenThePromoterKeepsReadersOut() throws Exception {
        Lock reader = reading(there);
        Lock promoter = reading(here);
        Future<Lock> writing = start(there.createLock("report"), 1);
        Future<Lock> promoting = threads.submit(() -> promoter.acquire());
        Awaitility.await()
                .until(() -> Raw.ask(
                                server,
                                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                                        + " AND mode = 'ExclusiveLock'")
                        .equals("1"));

        assertThat(writing.cancel(true)).isTrue();

        Awaitility.await()
                .until(() -> Raw.ask(
                                server,
                                "SELECT count(*) FROM pg_locks waits JOIN pg_locks shares USING (pid)"
                                        + " WHERE waits.locktype = 'advisory' AND NOT waits.granted"
                                        + " AND shares.locktype = 'advisory' AND shares.mode = 'ShareLock'")
                        .equals("1"));
        assertThat(there.createLock("report").tryAcquireShared()).isFalse();
        assertThat(promoter.isExpired()).isFalse();
        assertThat(reader.release()).isTrue();
        assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.EXCLUSIVE);
        assertThat(promoter.release()).isTrue();
        assertThat(Raw.ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                .isEqualTo("0");
    }

    @Test
    void givenManyHeldOnOneConnection_whenOneOfThemWaitsToPromote_thenTheOthersAreReleasedAtOnce() throws Exception {
        Lock beside = here.createLock("beside");
        assertThat(beside.tryAcquire()).isTrue();
        Lock reader = reading(there);
        Lock promoter = reading(here);
        Future<Lock> promoting = start(promoter, 1);

        assertThat(threads.submit(beside::release).get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        assertThat(promoting.isDone()).isFalse();
        assertThat(reader.release()).isTrue();
        assertThat(mode(promoting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)))
                .contains(LockMode.EXCLUSIVE);
        assertThat(promoter.release()).isTrue();
        assertThat(Raw.ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                .isEqualTo("0");
    }

    @Test
    void givenAPromotionTimedOut_whenAllIsReleased_thenNothingIsLeftInTheServer() throws Exception {
        Lock reader = reading(there);
        Lock promoter = reading(here);

        assertThat(promoter.tryAcquire(Duration.ofMillis(100))).isFalse();

        assertThat(mode(promoter)).contains(LockMode.SHARED);
        assertThat(promoter.isAcquired()).isTrue();
        assertThat(promoter.release()).isTrue();
        assertThat(reader.release()).isTrue();
        assertThat(Raw.ask(server, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                .isEqualTo("0");
    }

    /** F30: an application's lock of two 32-bit numbers is another one, though they make the same 64 bits. */
    @Test
    void givenAnApplicationLocksTwoNumbers_whenTheyMakeOurs_thenItIsAnotherLock() throws Exception {
        long number = LockId.of("report").hold();
        try (Connection foreign = server.connect()) {
            Raw.run(foreign, "SELECT pg_advisory_lock(" + (int) (number >> 32) + ", " + (int) number + ")");

            assertThat(store.holders("report")).isEmpty();
            Lock lock = here.createLock("report");
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
            // The server frees it a moment after the connection was closed, and other tests count what is locked.
            Raw.run(foreign, "SELECT pg_advisory_unlock_all()");
        }
    }

    @Test
    void givenHeldThere_whenInspectedHere_thenTheServerProcessIsNamed() throws Exception {
        Lock lock = there.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(store.holders("report"))
                .singleElement()
                .extracting(Holder::description)
                .isEqualTo(Optional.of("server process "
                        + otherStore.sessions().shared().pid() + ", application latchkey, from 127.0.0.1"));
    }

    private static Lock reading(LockFactory factory) {
        Lock lock = factory.createLock("report");
        assertThat(lock.tryAcquireShared()).isTrue();
        return lock;
    }

    /** How one acquires. */
    @FunctionalInterface
    private interface Acquire {
        Lock by(Lock waiter) throws InterruptedException;
    }

    private Future<Lock> start(Lock waiter, int waiting) {
        return start(waiter, waiting, Lock::acquire);
    }

    private Future<Lock> start(Lock waiter, int waiting, Acquire acquire) {
        Future<Lock> started = threads.submit(() -> acquire.by(waiter));
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(5))
                // One that promotes keeps readers out by a second wait, after a while.
                .until(() -> Raw.waiting(server) >= waiting);
        return started;
    }

    private static Optional<LockMode> mode(Lock lock) {
        return lock.key().held().map(Key.Held::mode);
    }
}

package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** An error in the middle of what several depend on: the others are told, and no session keeps a lock without an owner. */
class DriverErrorsIT {

    /** What the driver throws before it sends a statement that contains a text, once. */
    private record Planted(String sql, Throwable failure) {}

    private final AtomicReference<@Nullable Planted> planted = new AtomicReference<>();
    private final AtomicBoolean abortFails = new AtomicBoolean();
    private PostgresServer server;
    private PostgresAdvisoryStore rivals;
    private PostgresAdvisoryStore store;
    private PGSimpleDataSource source;

    @BeforeEach
    void open() {
        server = PostgresServer.start();
        rivals = Stores.open(server);
        source = new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return failing(super.getConnection());
            }
        };
        source.setUrl(server.jdbcUrl());
        store = new PostgresAdvisoryStore(source);
    }

    @AfterEach
    void close() {
        abortFails.set(false);
        store.close();
        rivals.close();
        server.close();
    }

    /** The error went to the writer, and the reader waited behind nobody until its time was over. */
    @Test
    void givenAnErrorWhileAReaderJoinsAnother_whenAWriterGivesUp_thenTheReaderIsTold() throws Exception {
        granted(store.save(shared(Key.of("report"))));
        CompletableFuture<Void> givesUp = new CompletableFuture<>();
        BackgroundCall<Response> writer = waiting(exclusive(Key.of("report")), givesUp);
        Awaitility.await().until(() -> Raw.waiting(server) == 1);
        BackgroundCall<Response> reader = waiting(shared(Key.of("report")), new CompletableFuture<>());
        reader.awaitWaiting();
        planted.set(new Planted("pg_try_advisory_lock_shared", new StackOverflowError("planted")));

        givesUp.complete(null);

        assertThat(writer.result()).isInstanceOf(Response.Conflicted.class);
        assertThatThrownBy(reader::result).isInstanceOf(LockStorageException.class);
        assertThat(planted).hasValue(null);
        Awaitility.await().until(() -> rivals.save(exclusive(Key.of("report"))) instanceof Response.Granted);
    }

    /** Whoever came first was told, and the connection stayed open with what the others held. */
    @Test
    void givenListenersThatThrow_whenTheSessionEnds_thenAllAreToldAndTheConnectionIsClosed() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        for (String resource : List.of("a", "b", "c")) {
            var unused = granted(store.save(exclusive(Key.of(resource))))
                    .lease()
                    .lost()
                    .orElseThrow()
                    .thenAccept(reason -> {
                        told.add(resource);
                        throw new Unprintable();
                    });
        }

        store.sessions().shared().end(LossReason.SESSION_LOST);

        assertThat(told).containsExactlyInAnyOrder("a", "b", "c");
        Awaitility.await().until(() -> rivals.save(exclusive(Key.of("c"))) instanceof Response.Granted);
    }

    /** The sessions after the one that could not be aborted stayed open, with all they had locked. */
    @Test
    void givenADriverThatCannotAbort_whenTheStoreIsClosed_thenAllAreTold() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        for (String resource : List.of("a", "b", "c")) {
            Key blocker = Key.of(resource);
            granted(rivals.save(exclusive(blocker)));
            BackgroundCall<Response> waiter = waiting(exclusive(Key.of(resource)), new CompletableFuture<>());
            Awaitility.await().until(() -> Raw.waiting(server) == 1);
            assertThat(rivals.delete(blocker)).isTrue();
            var unused = granted(waiter.result()).lease().lost().orElseThrow().thenAccept(reason -> told.add(resource));
        }
        abortFails.set(true);

        store.close();

        assertThat(told).containsExactlyInAnyOrder("a", "b", "c");
        for (String resource : List.of("a", "b", "c")) {
            Awaitility.await().until(() -> rivals.save(exclusive(Key.of(resource))) instanceof Response.Granted);
        }
    }

    /** The lock had no owner, so nobody released it; the waiter was told nothing, and those behind waited for it. */
    @Test
    void givenNoRoomForWhatTheServerGrants_whenWaiting_thenItIsToldAndTheLockIsFree() throws Exception {
        Sessions sessions = new Sessions(source);
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            LockTable rooms = new LockTable(sessions, threads);
            Key writer = Key.of("report");
            granted(rivals.save(exclusive(writer)));
            BackgroundCall<Response> waiter = BackgroundCall.start(() -> rooms.waitIn(
                    "report",
                    room -> room.waitAndSave(exclusive(Key.of("report")), inAMinute(), new CompletableFuture<>())));
            Awaitility.await().until(() -> Raw.waiting(server) == 1);
            rooms.in("report", room -> hasNoRoom(room.holds()));

            assertThat(rivals.delete(writer)).isTrue();

            assertThatThrownBy(waiter::result).isInstanceOf(SQLException.class);
            Awaitility.await().until(() -> rivals.save(exclusive(Key.of("report"))) instanceof Response.Granted);
        } finally {
            sessions.close();
            threads.shutdown();
        }
    }

    /** As above, of a lock that is had at once: it stayed on the session that all share. */
    @Test
    void givenNoRoomForWhatTheServerGrants_whenTaken_thenTheLockIsFree() throws Exception {
        Sessions sessions = new Sessions(source);
        try {
            LockTable rooms = new LockTable(sessions, Runnable::run);

            assertThatThrownBy(() -> rooms.in("report", room -> {
                        hasNoRoom(room.holds());
                        return room.save(exclusive(Key.of("report")));
                    }))
                    .isInstanceOf(OutOfMemoryError.class);

            Awaitility.await().until(() -> rivals.save(exclusive(Key.of("report"))) instanceof Response.Granted);
        } finally {
            sessions.close();
        }
    }

    /** It waited on until its time was over, and all behind it. */
    @Test
    void givenAnErrorWhileAFailedWaitIsCleanedUp_whenWaiting_thenItIsTold() throws Exception {
        Key writer = Key.of("report");
        granted(rivals.save(exclusive(writer)));
        BackgroundCall<Response> waiter = waiting(exclusive(Key.of("report")), new CompletableFuture<>());
        Awaitility.await().until(() -> Raw.waiting(server) == 1);
        planted.set(new Planted("pg_advisory_unlock_all", new StackOverflowError("planted")));

        Raw.run(server, "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");

        assertThatThrownBy(waiter::result).isInstanceOf(LockStorageException.class);
        assertThat(planted).hasValue(null);
        assertThat(rivals.delete(writer)).isTrue();
        granted(store.save(exclusive(Key.of("report"))));
    }

    private BackgroundCall<Response> waiting(Request request, CompletionStage<?> withdrawn) {
        return BackgroundCall.start(() -> store.waitAndSave(request, Duration.ofSeconds(60), withdrawn));
    }

    private static long inAMinute() {
        return System.nanoTime() + Duration.ofSeconds(60).toNanos();
    }

    /** As where memory runs out when the table of holds grows, once. */
    private static boolean hasNoRoom(Holds holds) {
        AtomicBoolean fails = new AtomicBoolean(true);
        Map<Key, Hold> full = new HashMap<>() {
            @Override
            public Hold put(Key key, Hold hold) {
                if (fails.getAndSet(false)) {
                    throw new OutOfMemoryError("Java heap space (planted)");
                }
                return super.put(key, hold);
            }
        };
        try {
            Field table = Holds.class.getDeclaredField("holds");
            table.setAccessible(true);
            table.set(holds, full);
            return true;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Holds has another table", e);
        }
    }

    /** What a listener throws past the stage that it listens to, which wants to say what it was. */
    private static final class Unprintable extends RuntimeException {

        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new StackOverflowError("planted");
        }
    }

    private Connection failing(Connection connection) {
        return proxy(connection, new Class<?>[] {Connection.class, PGConnection.class}, null);
    }

    private <T> T proxy(T target, Class<?>[] types, @Nullable String sql) {
        @SuppressWarnings("unchecked") // one of the types
        T made = (T) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, arguments) -> {
            String name = method.getName();
            if (name.equals("isWrapperFor")) {
                return true;
            }
            if (name.equals("unwrap")) {
                return proxy;
            }
            if (name.equals("abort") && abortFails.get()) {
                throw new SecurityException("planted");
            }
            if (name.equals("executeQuery") && sql != null) {
                throwPlanted(sql);
            }
            try {
                Object result = method.invoke(target, arguments);
                return name.equals("prepareStatement")
                        ? proxy((PreparedStatement) result, new Class<?>[] {PreparedStatement.class}, (String)
                                arguments[0])
                        : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
        return made;
    }

    private void throwPlanted(String sql) throws Throwable {
        Planted now = planted.get();
        if (now != null && sql.contains(now.sql()) && planted.compareAndSet(now, null)) {
            throw now.failure();
        }
    }
}

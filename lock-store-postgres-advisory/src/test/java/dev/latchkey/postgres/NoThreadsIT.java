package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that can make no more threads: the JVM says so by an error where one is started. */
class NoThreadsIT {

    private final AtomicInteger refused = new AtomicInteger();
    private final Executor threads = task -> {
        refused.incrementAndGet();
        throw new OutOfMemoryError("unable to create native thread (planted)");
    };
    private PostgresServer server;
    private Sessions sessions;

    @BeforeEach
    void open() {
        server = PostgresServer.start();
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(server.jdbcUrl());
        sessions = new Sessions(source);
    }

    @AfterEach
    void close() {
        sessions.close();
        server.close();
    }

    /** It stayed in line, and whoever came after it waited behind nobody. */
    @Test
    void givenOneHolds_whenAnotherWaits_thenItFailsAndIsInLineNoMore() throws Exception {
        LockTable rooms = new LockTable(sessions, threads);
        Key holder = Key.of("report");
        granted(rooms.in("report", room -> room.save(exclusive(holder))));

        assertThatThrownBy(() -> rooms.waitIn(
                        "report",
                        room -> room.waitAndSave(
                                exclusive(Key.of("report")),
                                System.nanoTime() + 20_000_000_000L,
                                new CompletableFuture<>())))
                .isInstanceOf(SQLException.class);

        assertThat(rooms.<Boolean>in("report", room -> room.delete(holder))).isTrue();
        assertThat(rooms.size()).isZero();
    }

    /** As above, where it is not the number of threads that fails. */
    @Test
    void givenAnErrorWhereThreadsAreMade_whenAnotherWaits_thenItFailsAndIsInLineNoMore() throws Exception {
        LockTable rooms = new LockTable(sessions, task -> {
            throw new StackOverflowError("planted");
        });
        Key holder = Key.of("report");
        granted(rooms.in("report", room -> room.save(exclusive(holder))));

        assertThatThrownBy(() -> rooms.waitIn(
                        "report",
                        room -> room.waitAndSave(
                                exclusive(Key.of("report")),
                                System.nanoTime() + 20_000_000_000L,
                                new CompletableFuture<>())))
                .isInstanceOf(SQLException.class);

        assertThat(rooms.<Boolean>in("report", room -> room.delete(holder))).isTrue();
        assertThat(rooms.size()).isZero();
    }

    /** It counted as under way for ever: no session that waits was ever asked about again. */
    @Test
    void givenAnErrorWhereThreadsAreMade_whenSomebodyWaitsForLong_thenItIsCheckedAllTheSame() throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch checked = new CountDownLatch(1);
        LockTable rooms = new LockTable(sessions, pool);
        SessionMonitor watch = new SessionMonitor(sessions, rooms, task -> {
            if (asked.incrementAndGet() == 1) {
                throw new StackOverflowError("planted");
            }
            task.run();
            checked.countDown();
        });
        try (PostgresAdvisoryStore rivals = Stores.open(server)) {
            Key holder = Key.of("report");
            granted(rivals.save(exclusive(holder)));
            BackgroundCall<Response> waiter = BackgroundCall.start(() -> rooms.waitIn("report", room -> {
                watch.needed();
                return room.waitAndSave(
                        exclusive(Key.of("report")), System.nanoTime() + 60_000_000_000L, new CompletableFuture<>());
            }));

            assertThat(checked.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();

            assertThat(rivals.delete(holder)).isTrue();
            granted(waiter.result());
        } finally {
            watch.close();
            pool.shutdown();
        }
    }

    /** The thread that looks ended with the first probe that it could not start, and no loss was noticed any more. */
    @Test
    void givenAProbeCannotBeStarted_whenTheServerEndsTheSession_thenTheHolderIsTold() throws Exception {
        LockTable rooms = new LockTable(sessions, threads);
        SessionMonitor watch = new SessionMonitor(sessions, rooms, threads);
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        granted(rooms.in("report", room -> room.save(exclusive(Key.of("report")))))
                .lease()
                .lost()
                .orElseThrow()
                .thenAccept(losses::add);
        watch.needed();
        Awaitility.await().until(() -> refused.get() > 0);

        Raw.terminate(server, "granted");

        Awaitility.await().untilAsserted(() -> assertThat(losses).containsExactly(LossReason.SESSION_LOST));
        watch.close();
    }
}

package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that can make no more threads: the JVM says so by an error where one is started. */
@Timeout(60)
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

package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers on virtual threads, where there are any: an interrupt closed the connection in the middle of a call. */
class VirtualThreadsIT {

    private static final int CYCLES = 200;

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void givenInterruptedAgainAndAgain_whenTakenAndReleased_thenAllIsDoneAndTheFlagIsKept(String database)
            throws Exception {
        String dsn = database.equals("postgresql") ? PostgresServer.sharedDsn() : MariaDbServer.sharedDsn();
        try (JdbcStore store = Stores.open(dsn)) {
            Key key = Key.of("virtual-" + database);
            FutureTask<Boolean> cycles = new FutureTask<>(() -> {
                for (int i = 0; i < CYCLES; i++) {
                    granted(store.save(exclusive(key)));
                    assertThat(store.find(key)).isPresent();
                    assertThat(store.delete(key)).isTrue();
                }
                return Thread.currentThread().isInterrupted();
            });

            Thread thread = start(cycles);
            while (!cycles.isDone()) {
                thread.interrupt();
                Thread.onSpinWait();
            }

            assertThat(cycles.get(1, TimeUnit.SECONDS)).isTrue();
        }
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

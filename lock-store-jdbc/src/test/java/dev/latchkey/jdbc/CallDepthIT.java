package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.servers.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many calls are between a store and the driver, for whoever reads a stack trace. */
class CallDepthIT {

    /** {@code JdbcStore}, {@code Database} four times, {@code AcquireStatement} twice, {@code Sql}. */
    private static final int MOST_CALLS = 8;

    /** Notes through which methods of the store a statement is prepared. */
    private static final class NotedSource extends DelegatingSource {

        private List<String> lastPath = List.of();

        NotedSource(HikariDataSource pool) {
            super(pool);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    CallDepthIT.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, values) -> {
                        if (method.getName().equals("prepareStatement")) {
                            lastPath = path();
                        }
                        try {
                            return method.invoke(connection, values);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        private static List<String> path() {
            List<String> path = new ArrayList<>();
            for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
                if (frame.getClassName().startsWith("dev.latchkey.jdbc.")
                        && !frame.getClassName().contains(CallDepthIT.class.getSimpleName())) {
                    path.add(frame.getClassName() + "." + frame.getMethodName());
                }
            }
            return path;
        }
    }

    @Test
    void givenAFreeLock_whenItIsTaken_thenTheDriverIsAFewCallsAway() {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
            NotedSource noted = new NotedSource(pool);
            JdbcStore store = JdbcStore.builder(noted).table("depth_lock").build();
            granted(store.save(exclusive(Key.of("warm-up"))));

            granted(store.save(exclusive(Key.of("r"))));

            assertThat(noted.lastPath)
                    .hasSizeBetween(1, MOST_CALLS)
                    .last()
                    .asString()
                    .contains("JdbcStore.save");
        }
    }
}

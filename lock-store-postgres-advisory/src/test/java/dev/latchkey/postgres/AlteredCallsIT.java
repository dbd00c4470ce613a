package dev.latchkey.postgres;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Holder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** Other platforms and rare moments, by a call of the driver that is altered on its way to a real server. */
class AlteredCallsIT {

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = PostgresServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A server on Windows refuses to look whether its clients are there, by the same error as any value it may not have. */
    @Test
    void givenAServerThatRefusesToLookForItsClient_whenAcquired_thenHeldWithAllOtherSettings() throws Exception {
        try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(source((connection, method, arguments) -> {
            if (method.getName().equals("prepareStatement")) {
                arguments[0] = String.valueOf(arguments[0])
                        .replace(
                                "'client_connection_check_interval', '5000'",
                                "'client_connection_check_interval', '-1'");
            }
            return method.invoke(connection, arguments);
        }))) {
            assertThat(granted(store.save(exclusive(Key.of("report")))).fencingToken())
                    .isPresent();

            Session shared = store.sessions().shared();
            assertThat(shared.text("SHOW client_connection_check_interval")).isEqualTo("0");
            assertThat(shared.text("SHOW search_path")).isEqualTo("pg_catalog");
        }
    }

    /** The server gives the number of a process that has ended to another, whose lock must not be taken for ours. */
    @Test
    void givenTheNumberOfADeadSessionHolds_whenInspected_thenItIsNamed() throws Exception {
        try (PostgresAdvisoryStore store = new PostgresAdvisoryStore(source((connection, method, arguments) ->
                        method.getName().equals("abort") ? null : method.invoke(connection, arguments)));
                PostgresAdvisoryStore other = Stores.open(server)) {
            granted(store.save(exclusive(Key.of("report"))));
            Session dead = store.sessions().shared();

            // Its connection stays, and with it a server process that holds.
            dead.end(LossReason.SESSION_LOST);

            assertThat(other.holders("report")).hasSize(1);
            assertThat(store.holders("report"))
                    .singleElement()
                    .extracting(Holder::description)
                    .asString()
                    .contains("server process " + dead.pid());
        }
    }

    /** What becomes of a call. */
    interface Call {
        @Nullable Object of(Connection connection, Method method, Object[] arguments) throws ReflectiveOperationException;
    }

    private static PGSimpleDataSource source(Call call) {
        return source(server.jdbcUrl(), call);
    }

    static PGSimpleDataSource source(String url, Call call) {
        PGSimpleDataSource source = new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return altered(super.getConnection(), call);
            }
        };
        source.setUrl(url);
        return source;
    }

    private static Connection altered(Connection connection, Call call) {
        return (Connection) Proxy.newProxyInstance(
                AlteredCallsIT.class.getClassLoader(),
                new Class<?>[] {Connection.class, PGConnection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("isWrapperFor")) {
                        return true;
                    }
                    if (method.getName().equals("unwrap")) {
                        return proxy;
                    }
                    try {
                        return call.of(connection, method, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}

package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** C13: what was asked for and given up while there was no server. */
class RedisOutageIT {

    private static final int CALLS = 1_000;
    private static final int THREADS = 20;

    @Test
    void givenNoServer_whenAThousandCallsHaveTimedOut_thenTheDriverKeepsNoneOfThem() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            RedisURI address = RedisURI.create(server.dsn());
            KeyNames names = new KeyNames("lock:");
            ScriptRequest holders = new Requests(names, Duration.ofMinutes(1), "1").inspect("r");
            ScriptRunner asked =
                    new ScriptRunner(Clients.server(address), new Failures("it", names), Duration.ofMillis(50));
            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(() -> !asked.ask(holders).isEmpty());
            server.kill();
            Awaitility.await().until(() -> !asked.link().connected("r").isOpen());

            List<BackgroundCall<Boolean>> callers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                callers.add(BackgroundCall.start(() -> askInVain(asked, holders)));
            }
            for (BackgroundCall<Boolean> caller : callers) {
                assertThat(caller.result()).isTrue();
            }

            assertThat(kept(asked)).isLessThan(THREADS);
            asked.close();
        }
    }

    @Test
    void givenNoServerForAWhile_whenItIsBack_thenReleasedAndTaken() throws Exception {
        CompletableFuture<StatefulConnection<byte[], byte[]>> connection = new CompletableFuture<>();
        try (RedisServer server = RedisServer.startDurable();
                RedisStore store = new RedisStore.Builder(
                                Clients.server(RedisURI.create(server.dsn())).checkedBy(connection::complete))
                        .commandTimeout(Duration.ofSeconds(30))
                        .build();
                LockFactory locks = new LockFactory(store)) {
            Lock held = locks.createLock("held", LONG_TTL).acquire();
            server.kill();
            // A release that is sent before the driver has noticed is lost, and is not repeated.
            Awaitility.await().until(() -> !connection.join().isOpen());
            BackgroundCall<Boolean> releasing = BackgroundCall.start(held::release);
            BackgroundCall<Boolean> taking = BackgroundCall.start(
                    () -> locks.createLock("other", LONG_TTL).tryAcquire());
            releasing.awaitWaiting();
            taking.awaitWaiting();

            server.restart();

            assertThat(releasing.result()).isTrue();
            assertThat(taking.result()).isTrue();
        }
    }

    private static boolean askInVain(ScriptRunner asked, ScriptRequest holders) {
        for (int i = 0; i < CALLS / THREADS; i++) {
            assertThatThrownBy(() -> asked.ask(holders)).isInstanceOf(LockStorageException.class);
        }
        return true;
    }

    /** The driver tells nobody how much it keeps. */
    private static int kept(ScriptRunner asked) throws ReflectiveOperationException {
        Object writer = ((RedisChannelHandler<?, ?>) asked.link().connected("r")).getChannelWriter();
        while (!(writer instanceof DefaultEndpoint)) {
            writer = value(writer, writer.getClass(), "delegate");
        }
        return ((Collection<?>) value(writer, DefaultEndpoint.class, "disconnectedBuffer")).size();
    }

    private static Object value(Object of, Class<?> type, String field) throws ReflectiveOperationException {
        Field found = type.getDeclaredField(field);
        found.setAccessible(true);
        return Objects.requireNonNull(found.get(of), field);
    }
}

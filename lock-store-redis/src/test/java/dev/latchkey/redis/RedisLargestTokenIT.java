package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A10: beyond 2^53 the numbers of scripts repeat, and with them fencing tokens. */
class RedisLargestTokenIT {

    private static final long LARGEST = (1L << 53) - 1;
    private static final String USED_UP = "fencing tokens";

    private static RedisServer server;

    private RedisStore store;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        store = (RedisStore) new RedisStore.Provider().open(server.dsn());
    }

    @AfterEach
    void close() {
        store.close();
        server.call("FLUSHALL");
    }

    @Test
    void givenHeld_whenRaisedFarAheadOfTheClock_thenRefusedAndTheTokenStays() {
        Key key = Key.of("r");
        long token = token(store.save(exclusive(key)));
        long yearMicros = 366L * 24 * 60 * 60 * 1_000_000;

        for (long far : List.of(token + 11 * yearMicros, LARGEST - 1, LARGEST, LARGEST + 1, Long.MAX_VALUE)) {
            assertThat(store.raiseFence(key, far)).as("%d", far).isFalse();
        }

        assertThat(store.find(key).orElseThrow().fencingToken()).hasValue(token);
        assertThat(store.raiseFence(key, token + yearMicros)).isTrue();
    }

    @Test
    void givenTheLargestToken_whenTakenAgainInEachWay_thenItFailsAndNothingIsTaken() {
        last(LARGEST - 1);
        Key first = Key.of("r");
        assertThat(token(store.save(exclusive(first)))).isEqualTo(LARGEST);
        assertThat(store.refresh(exclusive(first))).isInstanceOf(Response.Granted.class);
        assertThat(token(store.save(exclusive(first)))).isEqualTo(LARGEST);
        assertThat(store.delete(first)).isTrue();

        assertUsedUp(() -> store.save(exclusive(Key.of("r"))));
        assertUsedUp(() -> store.saveAll(List.of(exclusive(Key.of("other")), exclusive(Key.of("r")))));
        assertUsedUp(() -> new LockFactory(store).createLock("r").acquire());

        assertThat(store.holders("r")).isEmpty();
        assertThat(store.holders("other")).isEmpty();
    }

    @Test
    void givenTheLargestTokenAndAReader_whenPromoted_thenItFailsAndTheReaderStays() {
        last(LARGEST);
        Key reader = Key.of("r");
        Response.Granted read = granted(store.save(shared(reader)));

        assertUsedUp(() -> store.save(exclusive(holding(reader, read))));
        assertUsedUp(() -> store.saveAll(List.of(exclusive(holding(reader, read)))));

        assertThat(store.holders("r")).hasSize(1);
        assertThat(store.delete(reader)).isTrue();
    }

    /** What was stored by a store that did not look, while others waited. */
    @Test
    void givenOneWaits_whenTheTokensAreUsedUpBeforeItsTurn_thenItIsToldAndNobodyHolds() throws Exception {
        LockFactory locks = new LockFactory(store);
        Lock holder = locks.createLock("r", LONG_TTL).acquire();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock("r", LONG_TTL).acquire());
        waiting.awaitWaiting();
        Awaitility.await().until(() -> Long.valueOf(1).equals(server.call("ZCARD", "lock:{r}:q")));
        String state = server.text("GET", "lock:{r}");
        server.call("SET", "lock:{r}", state.substring(0, 5) + LARGEST + state.substring(21), "KEEPTTL");

        assertThat(holder.release()).isTrue();

        assertThatThrownBy(waiting::result).hasStackTraceContaining(USED_UP);
        assertThat(store.holders("r")).isEmpty();
    }

    private static void last(long token) {
        server.call("SET", "lock:{r}", "L1F0 " + token, "PX", "600000");
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }

    private static void assertUsedUp(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(LockStorageException.class).hasMessageContaining(USED_UP);
    }
}

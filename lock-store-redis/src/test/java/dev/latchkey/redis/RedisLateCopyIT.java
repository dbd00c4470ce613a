package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A request whose answer is lost with the connection is sent again. The second copy is answered, and the first may come to the
 * server long after that, behind whatever its holder has asked for since.
 */
@Timeout(120)
class RedisLateCopyIT {

    private static final Requests ARGUMENTS = new Requests(Duration.ofMinutes(10));
    private static final Duration SHORT_TTL = Duration.ofMinutes(1);

    /** In which words the server was asked. */
    private enum Asked {
        AT_ONCE {
            @Override
            void again(String state, Request request) {
                send(Script.ACQUIRE, state, ARGUMENTS.acquire(request));
            }
        },
        WAITING {
            @Override
            void again(String state, Request request) {
                send(
                        Script.ACQUIRE,
                        state,
                        ARGUMENTS.acquire(request, "gone.1", 0, NotificationChannel.GrantMessage.NONE));
            }
        },
        IN_A_BATCH {
            @Override
            void again(String state, Request request) {
                send(Script.SAVE_ALL, state, ARGUMENTS.retention(), Requests.ascii("-"), Requests.batched(request));
            }
        },
        TO_REFRESH {
            @Override
            void again(String state, Request request) {
                send(Script.REFRESH, state, ARGUMENTS.refresh(request));
            }
        };

        /** Has the first copy of a request come to the server now. */
        abstract void again(String state, Request request);

        private static void send(Script script, String state, byte[]... args) {
            String source = new String(script.source(), StandardCharsets.UTF_8);
            Stream<String> texts = Arrays.stream(args).map(arg -> new String(arg, StandardCharsets.US_ASCII));
            @Nullable Object answer = server.call(
                    Stream.concat(Stream.of("EVAL", source, "1", state), texts).toArray(String[]::new));
            assertThat(answer).as("the answer that nobody reads").isNotNull();
        }
    }

    private static RedisServer server;

    private RedisStore store;
    private final Key key = Key.of(UUID.randomUUID().toString());
    private final String state = "lock:{" + key.resource() + "}";

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
    }

    /** The exclusive hold became shared, and readers got in, while its holder believed that it was alone. */
    @ParameterizedTest
    @EnumSource(Asked.class)
    void givenPromoted_whenCopiesOfAllThatWasAskedBeforeComeLate_thenItIsExclusiveStill(Asked asked) {
        Key reader = holding(key, store.save(shared(key, SHORT_TTL)));
        Key writer = holding(key, store.save(exclusive(reader, SHORT_TTL)));
        Key demoted = holding(key, store.save(shared(writer, SHORT_TTL)));
        Response.Granted granted = granted(store.save(exclusive(demoted, LONG_TTL)));
        List<Request> before = List.of(
                shared(key, SHORT_TTL),
                exclusive(key, SHORT_TTL),
                shared(reader, SHORT_TTL),
                exclusive(reader, SHORT_TTL),
                shared(writer, SHORT_TTL),
                exclusive(writer, SHORT_TTL));

        for (Request request : before) {
            asked.again(state, request);

            assertExclusiveStill(request, granted);
        }
    }

    @ParameterizedTest
    @EnumSource(Asked.class)
    void givenReleasedAndTakenExclusively_whenACopyOfTheSharedAcquireComesLate_thenItIsExclusiveStill(Asked asked) {
        granted(store.save(shared(key, SHORT_TTL)));
        assertThat(store.delete(key)).isTrue();
        Response.Granted granted = granted(store.save(exclusive(key, LONG_TTL)));

        asked.again(state, shared(key, SHORT_TTL));

        assertExclusiveStill(shared(key, SHORT_TTL), granted);
    }

    private void assertExclusiveStill(Request late, Response.Granted granted) {
        Response.Granted found = store.find(key).orElseThrow();
        assertThat(found.mode()).as("%s", late).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(found.fencingToken()).as("%s", late).isEqualTo(granted.fencingToken());
        assertThat(found.lease().ttl()).as("%s", late).isGreaterThan(SHORT_TTL);
        assertThat(store.save(shared(Key.of(key.resource())))).as("%s", late).isInstanceOf(Response.Conflicted.class);
        assertThat(store.refresh(exclusive(holding(key, granted)))).isInstanceOf(Response.Granted.class);
    }

    /** As with a lock made from a key: it may have been promoted since the key was taken from its lock. */
    @Test
    void givenHeldExclusively_whenAskedForSharedByWhoDoesNotKnowThat_thenItStaysExclusive() throws Exception {
        List<Request> asking = List.of(shared(key), shared(holding(key, store.save(shared(key)))));
        for (Request request : asking) {
            exclusively();
            assertExclusive(store.save(request));

            exclusively();
            assertExclusive(store.saveAsync(request, 0).toCompletableFuture().join());

            exclusively();
            assertExclusive(store.waitAndSave(request, LONG_TTL, new CompletableFuture<>()));

            exclusively();
            assertThat(store.saveAll(List.of(request)))
                    .isInstanceOfSatisfying(
                            BatchAttempt.Granted.class,
                            all -> assertExclusive(all.grants().get(0)));
        }
    }

    private void exclusively() {
        granted(store.save(exclusive(key)));
    }

    private void assertExclusive(Response response) {
        assertThat(granted(response).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(granted(response).fencingToken()).isPresent();
        assertThat(store.save(shared(Key.of(key.resource())))).isInstanceOf(Response.Conflicted.class);
    }
}

package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A request whose answer is lost with the connection is sent again. The second copy is answered, and the first may come to the
 * server long after that, behind whatever its holder has asked for since.
 */
class RedisLateCopyIT extends WithAStore {

    private static final KeyNames NAMES = new KeyNames("lock:");
    private static final Duration RETENTION = Duration.ofMinutes(10);
    private static final Requests REQUESTS = new Requests(NAMES, RETENTION, "1");
    private static final Duration SHORT_TTL = Duration.ofMinutes(1);

    /** In which words the server was asked. */
    private enum Asked {
        AT_ONCE {
            @Override
            ScriptRequest sent(Request request) {
                return REQUESTS.acquire(request, 0);
            }
        },
        WAITING {
            @Override
            ScriptRequest sent(Request request) {
                return REQUESTS.acquire(request, "gone.1", 0, NotificationChannel.Push.NONE);
            }
        },
        IN_A_BATCH {
            @Override
            ScriptRequest sent(Request request) {
                return new BatchRequests(NAMES, RETENTION, "1", true).saveAll(List.of(request), Optional.empty());
            }
        },
        TO_REFRESH {
            @Override
            ScriptRequest sent(Request request) {
                return REQUESTS.refresh(request);
            }
        };

        abstract ScriptRequest sent(Request request);

        /** Has the first copy of a request come to the server now. */
        void again(Request request) {
            ScriptRequest late = sent(request);
            Stream<byte[]> words = Stream.of(
                            Stream.of(Requests.ascii("EVAL"), late.script().source(), Requests.ascii("1")),
                            late.keys().stream(),
                            late.args().stream())
                    .flatMap(Function.identity());
            @Nullable Object answer = server.call(
                    words.map(word -> new String(word, StandardCharsets.UTF_8)).toArray(String[]::new));
            assertThat(answer).as("the answer that nobody reads").isNotNull();
        }
    }

    private final Key key = Key.of(UUID.randomUUID().toString());

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
            asked.again(request);

            assertExclusiveStill(request, granted);
        }
    }

    @ParameterizedTest
    @EnumSource(Asked.class)
    void givenReleasedAndTakenExclusively_whenACopyOfTheSharedAcquireComesLate_thenItIsExclusiveStill(Asked asked) {
        granted(store.save(shared(key, SHORT_TTL)));
        assertThat(store.delete(key)).isTrue();
        Response.Granted granted = granted(store.save(exclusive(key, LONG_TTL)));

        asked.again(shared(key, SHORT_TTL));

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

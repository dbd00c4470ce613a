package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The mistakes that were made once in working out the protocol, one test each. */
class RedisProtocolIT extends WithAStore {

    private static final Duration LONG_WAIT = Fixture.LONG_TTL;

    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";

    /** Several servers can agree on a number at once only if they take one that is a little ahead of their clocks. */
    @Test
    void givenAProposal_whenItIsAheadOfTheClockByLessThanASecond_thenItIsTheToken() {
        Awaitility.await("a request that is under way for less than a second")
                .atMost(TimeLimits.LIMIT)
                .until(() -> {
                    Key key = Key.of(resource);
                    long proposal = Long.parseLong(micros()) + 900_000;
                    long token = granted(store.save(exclusive(key), proposal))
                            .fencingToken()
                            .orElseThrow();
                    assertThat(store.delete(key)).isTrue();
                    return token == proposal;
                });
    }

    @Test
    void givenAProposal_whenItIsFarAheadOrNotGreater_thenTheServerCountsByItself() {
        long last = 0;
        for (long off : List.of(20_000_000L, -20_000_000L, 3_000_000_000_000_000L, 0L)) {
            Key key = Key.of(resource);
            long before = Long.parseLong(micros());

            long token = granted(store.save(exclusive(key), off == 0 ? last : before + off))
                    .fencingToken()
                    .orElseThrow();

            assertThat(token).isGreaterThan(last).isBetween(before, Long.parseLong(micros()));
            last = token;
            assertThat(store.delete(key)).isTrue();
        }
    }

    /** A late message was taken for the grant of nobody, and the live hold it told of was given back. */
    @Test
    void givenGrantedWait_whenItsMessageComesAgain_thenTheHoldStays() throws Exception {
        Key holder = Key.of(resource);
        granted(store.save(exclusive(holder)));
        Key key = Key.of(resource);
        CompletableFuture<Response> waiting = waiting(store, exclusive(key));
        String attempt = queuedAttempt();
        assertThat(store.delete(holder)).isTrue();
        Response.Granted granted = granted(waiting.join());

        assertThat(publish(attempt, "x " + micros() + " 60000 " + fence(granted)))
                .isEqualTo(1L);

        awaitMessagesRead();
        assertThat(store.find(key)).isPresent();
    }

    /** A grant to a wait that is over must not stay, and nothing else may be given back with it. */
    @Test
    void givenAWaitThatEnded_whenAGrantToItComesLate_thenOnlyThatIsGivenBack() throws Exception {
        Key holder = Key.of(resource);
        granted(store.save(exclusive(holder)));
        Key key = Key.of(resource);
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        CompletableFuture<Response> first = Background.supply(() -> wait(store, exclusive(key), withdrawn));
        String ended = queuedAttempt();
        withdrawn.complete(null);
        assertThat(first.join()).isInstanceOf(Response.Conflicted.class);
        CompletableFuture<Response> second = waiting(store, exclusive(key));
        queuedAttempt();
        assertThat(store.delete(holder)).isTrue();
        Response.Granted granted = granted(second.join());

        publish(ended, "x " + micros() + " 60000 " + fence(granted));
        awaitMessagesRead();
        assertThat(store.find(key)).isPresent();

        assertThat(store.delete(key)).isTrue();
        server.call(
                "SET",
                state,
                "L1X0 " + micros() + ' ' + key.token() + ':' + micros() + ":60000:" + ended,
                "PX",
                "99999");
        publish(ended, "x " + micros() + " 60000 " + fence(granted));
        Awaitility.await().until(() -> store.find(key).isEmpty());
    }

    /** A waiting promoter was granted a lease that ended before the shared one it still believed in. */
    @Test
    void givenPromoterWaitsWithAShortTtl_whenItIsGranted_thenItsLeaseDoesNotEndSooner() throws Exception {
        Key key = Key.of(resource);
        Key reader = holding(key, store.save(shared(key, LONG_TTL)));
        Key other = Key.of(resource);
        granted(store.save(shared(other)));
        CompletableFuture<Response> waiting = waiting(store, exclusive(reader, Duration.ofSeconds(2)));
        queuedAttempt();

        assertThat(store.delete(other)).isTrue();

        assertThat(granted(waiting.join()).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.find(key).orElseThrow().lease().ttl()).isGreaterThan(LONG_TTL.minusMinutes(1));
    }

    /** A cancel that crossed a granted promotion gave up the shared hold as well; and so did the same cancel, repeated. */
    @Test
    void givenGrantedPromotion_whenItIsCancelledTwice_thenTheSharedHoldStays() throws Exception {
        Key key = Key.of(resource);
        Key reader = holding(key, store.save(shared(key)));
        Key other = Key.of(resource);
        granted(store.save(shared(other)));
        CompletableFuture<Response> waiting = waiting(store, exclusive(reader));
        String attempt = queuedAttempt();
        assertThat(store.delete(other)).isTrue();
        granted(waiting.join());

        assertThat(cancel(key, attempt)).isEqualTo(2);
        assertThat(cancel(key, attempt)).isEqualTo(0);

        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    /** The answer to a promotion is lost, and asking again settles it: what is sent late of the first must not undo it. */
    @Test
    void givenAPromotionThatWasAskedForAgain_whenTheFirstIsCancelledLate_thenItStays() throws Exception {
        Key key = Key.of(resource);
        Key reader = holding(key, store.save(shared(key)));
        Key other = Key.of(resource);
        granted(store.save(shared(other)));
        CompletableFuture<Response> waiting = waiting(store, exclusive(reader));
        String attempt = queuedAttempt();
        assertThat(store.delete(other)).isTrue();
        granted(waiting.join());
        granted(store.save(exclusive(reader)));

        assertThat(cancel(key, attempt)).isEqualTo(0);

        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** Who was left out as dead while it reconnected lost its place. */
    @Test
    void givenWaiterWasDropped_whenItAsksAgain_thenItHasItsOldPlace() throws Exception {
        granted(store.save(exclusive(Key.of(resource))));
        CompletableFuture<Response> first = waiting(store, exclusive(Key.of(resource)));
        String attempt = queuedAttempt();
        String member = queue().get(0);
        CompletableFuture<Response> second = waiting(store, exclusive(Key.of(resource)));
        Awaitility.await().until(() -> queue().size() == 2);
        server.call("ZREM", state + ":q", member);

        publish(attempt, "?");

        Awaitility.await().until(() -> queue().size() == 2);
        assertThat(queue().get(0)).isEqualTo(member);
        assertThat(List.of(first, second)).noneMatch(CompletableFuture::isDone);
        server.call("DEL", state, state + ":q");
    }

    /** A waiter whose client is gone keeps nobody out: whoever gives up is told by the number of receivers. */
    @Test
    void givenTheNextInLineIsGone_whenReleased_thenTheOneBehindIsGranted() throws Exception {
        Key holder = Key.of(resource);
        granted(store.save(exclusive(holder)));
        String gone = Key.of(resource).token() + " nobody.1 x 60000 5000 1";
        server.call("ZADD", state + ":q", micros(), gone);
        CompletableFuture<Response> waiting = waiting(store, exclusive(Key.of(resource)));
        Awaitility.await().until(() -> queue().size() == 2);

        assertThat(store.delete(holder)).isTrue();

        granted(waiting.join());
    }

    /** The lease of a grant that is read late began when the server says so. */
    @Test
    void givenTheMessageComesLate_whenItIsRead_thenNoMoreIsBelievedThanTheServerKeeps() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore slow = open(PatientDsn.redis("redis://" + proxy.address()))) {
            for (int delay : new int[] {0, 100, 400}) {
                Key holder = Key.of(resource);
                granted(store.save(exclusive(holder)));
                Key key = Key.of(resource);
                CompletableFuture<Response> waiting = waiting(slow, exclusive(key));
                queuedAttempt();
                proxy.delay(Duration.ofMillis(delay));

                assertThat(store.delete(holder)).isTrue();
                Response.Granted granted = granted(waiting.join());

                long believed = granted.lease().since().orElseThrow()
                        + granted.lease().ttl().toNanos();
                long before = System.nanoTime();
                Response.Granted kept = store.find(key).orElseThrow();
                assertThat(believed - before)
                        .isLessThanOrEqualTo(kept.lease().ttl().toNanos() + (System.nanoTime() - before));
                proxy.delay(Duration.ZERO);
                assertThat(store.delete(key)).isTrue();
            }
        }
    }

    private static CompletableFuture<Response> waiting(RedisStore store, Request request) {
        return Background.supply(() -> wait(store, request, new CompletableFuture<>()));
    }

    private static Response wait(RedisStore store, Request request, CompletableFuture<Void> withdrawn) {
        try {
            return store.waitAndSave(request, LONG_WAIT, withdrawn);
        } catch (InterruptedException e) {
            throw new CompletionException(e);
        }
    }

    /** The attempt of the only one in the queue, once it is there and can be sent messages. */
    private String queuedAttempt() {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .until(() -> queue().size() == 1 && queue().get(0).endsWith(" 1"));
        return queue().get(0).split(" ", -1)[1];
    }

    private List<String> queue() {
        Object members = server.call("ZRANGE", state + ":q", "0", "-1");
        return members instanceof List<?> list
                ? list.stream().map(Object::toString).toList()
                : List.of();
    }

    private static Object publish(String attempt, String message) {
        return Objects.requireNonNull(server.call(
                "PUBLISH", "lock:in:" + attempt.substring(0, attempt.indexOf('.')), attempt + ' ' + message));
    }

    /** Messages of one connection are read in their order: what asks for an answer comes after all before it. */
    private void awaitMessagesRead() throws Exception {
        String other = resource + "-other";
        Key holder = Key.of(other);
        granted(store.save(exclusive(holder)));
        CompletableFuture<Response> waiting = waiting(store, exclusive(Key.of(other)));
        Awaitility.await().until(() -> Objects.equals(server.call("ZCARD", "lock:{" + other + "}:q"), 1L));
        assertThat(store.delete(holder)).isTrue();
        granted(waiting.join());
    }

    private long cancel(Key key, String attempt) {
        String script = new String(Script.CANCEL.source(), StandardCharsets.UTF_8);
        Object answer = server.call("EVAL", script, "1", state, key.token(), attempt, "600000", "no such member");
        return (Long) Objects.requireNonNull(answer);
    }

    private static String micros() {
        Object time = server.call("TIME");
        List<?> parts = (List<?>) Objects.requireNonNull(time);
        return Long.toString(Long.parseLong(parts.get(0).toString()) * 1_000_000
                + Long.parseLong(parts.get(1).toString()));
    }

    private static long fence(Response.Granted granted) {
        return granted.fencingToken().orElseThrow();
    }
}

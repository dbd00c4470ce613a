package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Orders in which the scripts of several callers come to the server, each script sent by hand. */
class RedisScriptOrderIT extends WithAStore {

    private static final Duration RETENTION = Duration.ofSeconds(1);
    private static final Requests REQUESTS = new Requests(new KeyNames("lock:"), RETENTION, "1");

    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";
    private final Key key = Key.of(resource);

    private NotificationChannel.Push push = NotificationChannel.Push.NONE;
    private RedisConnection inboxes;

    @BeforeEach
    void listen() {
        inboxes = server.connect();
        inboxes.call("SUBSCRIBE", "lock:in:a", "lock:in:c");
    }

    @AfterEach
    void listenNoLonger() {
        inboxes.close();
    }

    /** Else those who wait poll, and are taken for dead after 1.3 s. */
    private void haveThemTold() {
        push = NotificationChannel.Push.PUBLISH;
    }

    /** Whoever was granted it stayed in the queue, and was granted it again when nobody waited any more. */
    @Test
    void givenTheStateIsLostAndTheQueueIsNot_whenAWaiterAsksAgain_thenItLeavesTheQueue() {
        granted(store.save(exclusive(Key.of(resource))));
        long ticket = queued(exclusive(key), "a.1");
        server.call("DEL", state);

        assertThat(wait(exclusive(key), "a.1", ticket).get(0)).isPositive();

        assertThat(keys.waiting()).isEmpty();
        assertThat(store.delete(key)).isTrue();
        assertThat(keys.held()).isEmpty();
    }

    /** The answer to the first request is lost, so it is sent again, without a ticket. */
    @Test
    void givenTheStateIsLostAndTheQueueIsNot_whenTheFirstRequestIsRepeated_thenItLeavesTheQueue() {
        granted(store.save(exclusive(Key.of(resource))));
        long unused = queued(exclusive(key), "a.1");
        server.call("DEL", state);

        assertThat(wait(exclusive(key), "a.1", 0).get(0)).isPositive();

        assertThat(keys.waiting()).isEmpty();
        assertThat(store.delete(key)).isTrue();
        assertThat(keys.held()).isEmpty();
    }

    @Test
    void givenTheStateIsLostAndTheQueueIsNot_whenANewWaiterComes_thenTheFirstIsServedFirst() {
        haveThemTold();
        granted(store.save(exclusive(Key.of(resource))));
        long ticket = queued(exclusive(key), "a.1");
        server.call("DEL", state);

        assertThat(wait(exclusive(Key.of(resource)), "a.2", 0).get(0)).isZero();

        assertThat(wait(exclusive(key), "a.1", ticket).get(0)).isPositive();
    }

    @Test
    void givenTheStateIsLostAndAnotherCameSince_whenAWaiterAsksAgain_thenItLeavesTheQueue() {
        granted(store.save(exclusive(Key.of(resource))));
        long ticket = queued(exclusive(key), "a.1");
        server.call("DEL", state);
        Key other = Key.of(resource);
        granted(store.save(exclusive(other)));
        assertThat(store.delete(other)).isTrue();

        assertThat(wait(exclusive(key), "a.1", ticket).get(0)).isPositive();

        assertThat(keys.waiting()).isEmpty();
    }

    @Test
    void givenTheStateIsLostAndTheKeyIsGrantedAnotherRequest_whenItAsksAgain_thenItLeavesTheQueue() {
        granted(store.save(exclusive(Key.of(resource))));
        long ticket = queued(exclusive(key), "a.1");
        server.call("DEL", state);
        granted(store.save(exclusive(key)));

        assertThat(wait(exclusive(key), "a.1", ticket).get(0)).isPositive();

        assertThat(keys.waiting()).isEmpty();
    }

    @Test
    void givenTheStateIsLostAndTheQueueIsNot_whenTheSecondAsksFirst_thenTheFirstIsServedFirst() {
        haveThemTold();
        granted(store.save(exclusive(Key.of(resource))));
        Key second = Key.of(resource);
        long firstTicket = queued(exclusive(key), "a.1");
        long secondTicket = queued(exclusive(second), "a.2");
        server.call("DEL", state);

        assertThat(wait(exclusive(second), "a.2", secondTicket).get(0)).isZero();

        assertThat(wait(exclusive(key), "a.1", firstTicket).get(0)).isPositive();
    }

    /** With a short retention the state of a dead holder was gone while others still waited, and their order with it. */
    @Test
    void givenAShortRetention_whenSomebodyWaits_thenTheStateIsKeptForAsLongAsTheQueue() {
        Duration ttl = Duration.ofMinutes(10);
        assertThat(ask(REQUESTS.acquire(exclusive(Key.of(resource), ttl), 0)).get(0))
                .isPositive();

        queued(exclusive(key), "a.1");

        long queueAtTheEnd = ttl.plusSeconds(30).toMillis();
        assertThat((Long) server.call("PTTL", state)).isGreaterThan(queueAtTheEnd);
    }

    /** The answer to a wait is lost, a refresh says that it is held, and then the cancel of the wait comes late. */
    @Test
    void givenRefreshed_whenTheWaitIsCancelledLate_thenItIsHeld() {
        for (LockMode mode : LockMode.values()) {
            Key owner = Key.of(resource);
            Request request = mode == LockMode.EXCLUSIVE ? exclusive(owner) : shared(owner);
            assertThat(wait(request, "a.1", 0).get(0)).isPositive();
            granted(store.refresh(request));

            assertThat(cancel(request, "a.1")).isZero();

            assertThat(store.delete(owner)).as("%s", mode).isTrue();
        }
    }

    @Test
    void givenPromotedAndRefreshed_whenTheWaitIsCancelledLate_thenItIsExclusive() {
        Key reader = holding(key, store.save(shared(key)));
        long token = wait(exclusive(reader), "a.1", 0).get(0);
        Response.Granted found = store.find(key).orElseThrow();
        assertThat(found.fencingToken()).hasValue(token);
        granted(store.refresh(exclusive(holding(key, found))));

        assertThat(cancel(exclusive(reader), "a.1")).isZero();

        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    /** Whoever renews the shared hold does not know of the promotion, which is given up with its wait. */
    @Test
    void givenPromoted_whenTheSharedHoldIsRefreshedAndTheWaitIsCancelled_thenItIsShared() {
        Key reader = holding(key, store.save(shared(key)));
        assertThat(wait(exclusive(reader), "a.1", 0).get(0)).isPositive();
        granted(store.refresh(shared(reader)));

        assertThat(cancel(exclusive(reader), "a.1")).isEqualTo(2);

        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
    }

    /** The grant to two waits of one key, neither of which has read it, stayed for a whole TTL. */
    @Test
    void givenTwoWaitsOfOneKeyAreGranted_whenBothAreCancelled_thenNothingIsHeld() {
        for (List<String> order : List.of(List.of("a.1", "b.2"), List.of("b.2", "a.1"))) {
            assertThat(wait(exclusive(key), "a.1", 0).get(0)).isPositive();
            assertThat(wait(exclusive(key), "b.2", 0).get(0)).isPositive();

            assertThat(cancel(exclusive(key), order.get(0))).isZero();
            assertThat(keys.held()).as("as the other has it").hasSize(1);
            assertThat(cancel(exclusive(key), order.get(1))).isEqualTo(2);

            assertThat(keys.held()).isEmpty();
        }
    }

    @Test
    void givenTwoWaitsPromotedOneKey_whenBothAreCancelled_thenTheSharedHoldStays() {
        Key reader = holding(key, store.save(shared(key)));
        for (List<String> order : List.of(List.of("a.1", "b.2"), List.of("b.2", "a.1"))) {
            assertThat(wait(exclusive(reader), "a.1", 0).get(0)).isPositive();
            assertThat(wait(exclusive(reader), "b.2", 0).get(0)).isPositive();

            assertThat(cancel(exclusive(reader), order.get(0))).isZero();
            assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.EXCLUSIVE);
            assertThat(cancel(exclusive(reader), order.get(1))).isEqualTo(2);

            assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
        }
    }

    /** The shared hold, which the first wait has not read, stayed for a whole TTL. */
    @Test
    void givenOneWaitSharesAndAnotherPromotesTheSameKey_whenBothAreCancelled_thenNothingIsHeld() {
        assertThat(wait(shared(key), "a.1", 0).get(0)).isPositive();
        assertThat(wait(exclusive(key), "b.2", 0).get(0)).isPositive();
        assertThat(cancel(shared(key), "a.1")).isZero();
        assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.EXCLUSIVE);
        assertThat(cancel(exclusive(key), "b.2")).isEqualTo(2);
        assertThat(keys.held()).isEmpty();

        assertThat(wait(shared(key), "a.3", 0).get(0)).isPositive();
        assertThat(wait(exclusive(key), "b.4", 0).get(0)).isPositive();
        assertThat(cancel(exclusive(key), "b.4")).isEqualTo(2);
        assertThat(cancel(exclusive(key), "b.4")).as("again").isZero();
        assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
        assertThat(cancel(shared(key), "a.3")).isEqualTo(2);
        assertThat(keys.held()).isEmpty();
    }

    /** The answer to the wait that shares is lost, so its cancel comes late; by then its caller has found that it holds. */
    @Test
    void givenWhoPromotesOrRefreshesKnowsOfTheSharedHold_whenAllWaitsAreCancelled_thenItIsShared() {
        Key promoted = Key.of(resource);
        long fence = wait(shared(promoted), "a.1", 0).get(0);
        Key reader = holding(promoted, store.find(promoted).orElseThrow());
        assertThat(wait(exclusive(reader), "b.2", 0).get(0)).isGreaterThan(fence);
        assertThat(cancel(exclusive(reader), "b.2")).isEqualTo(2);
        assertThat(cancel(shared(promoted), "a.1")).isZero();
        assertThat(store.find(promoted).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
        assertThat(store.delete(promoted)).isTrue();

        assertThat(wait(shared(key), "a.3", 0).get(0)).isPositive();
        Key refreshed = holding(key, store.find(key).orElseThrow());
        assertThat(wait(exclusive(key), "b.4", 0).get(0)).isPositive();
        granted(store.refresh(shared(refreshed)));
        assertThat(cancel(shared(key), "a.3")).isZero();
        assertThat(cancel(exclusive(key), "b.4")).isEqualTo(2);
        assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
    }

    /** Else it would rely on an exclusive hold, with the token of the one before it. */
    @Test
    void givenOneWaitOfAKeyShares_whenAnotherWaitOfItForAnExclusiveHoldServesTheQueue_thenItIsNotGranted() {
        haveThemTold();
        Key reader = Key.of(resource);
        granted(store.save(exclusive(Key.of(resource))));
        long unusedKeys = queued(shared(key), "a.1");
        long unusedReaders = queued(shared(reader), "c.2");
        // Not by a release, which would serve the queue, nor by a TTL, which takes its time.
        server.call("DEL", state);

        assertThat(wait(exclusive(key), "b.3", 0).get(0)).isZero();

        assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
        assertThat(store.find(reader).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
    }

    /** What is asked for again and again must not make the state grow. */
    @Test
    void givenHeld_whenItIsWaitedForAgainAndAgain_thenTheStateStaysSmall() {
        for (int i = 1; i <= 100; i++) {
            assertThat(wait(exclusive(key), "a." + i, 0).get(0)).isPositive();
        }

        assertThat((Long) server.call("STRLEN", state)).isLessThan(300);
        assertThat(store.delete(key)).isTrue();
    }

    /** Whoever names the token of a promotion knows of it: the cancels of all waits leave it, and what was demoted since. */
    @Test
    void givenPromotedByAWait_whenItIsDemotedByAnotherAndBothAreCancelled_thenTheSharedHoldStays() {
        Key reader = holding(key, store.save(shared(key)));
        assertThat(wait(exclusive(reader), "a.1", 0).get(0)).isPositive();
        Key writer = holding(key, store.find(key).orElseThrow());
        assertThat(wait(shared(writer), "b.2", 0).get(0)).isPositive();

        assertThat(cancel(shared(writer), "b.2")).isZero();
        assertThat(cancel(exclusive(reader), "a.1")).isZero();

        assertThat(store.find(key).map(Response.Granted::mode)).hasValue(LockMode.SHARED);
    }

    private long queued(Request request, String attempt) {
        List<Long> reply = wait(request, attempt, 0);
        assertThat(reply.get(0)).as("queued").isZero();
        return reply.get(1);
    }

    private List<Long> wait(Request request, String attempt, long ticket) {
        return ask(REQUESTS.acquire(request, attempt, ticket, push));
    }

    private static long cancel(Request request, String attempt) {
        return ask(REQUESTS.cancel(request, attempt)).get(0);
    }

    private static List<Long> ask(ScriptRequest request) {
        Stream<byte[]> words = Stream.of(
                        Stream.of(
                                Requests.ascii("EVAL"),
                                request.script().source(),
                                Requests.ascii(Integer.toString(request.keys().size()))),
                        request.keys().stream(),
                        request.args().stream())
                .flatMap(Function.identity());
        Object reply = Objects.requireNonNull(server.call(
                words.map(word -> new String(word, StandardCharsets.UTF_8)).toArray(String[]::new)));
        return reply instanceof List<?> several
                ? several.stream().map(Long.class::cast).toList()
                : List.of((Long) reply);
    }
}

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
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateRule;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The queue on the server: who is served, who is told, and who is left out. */
class RedisQueueIT extends WithAStore {

    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{report}";
    private static final String QUEUE = STATE + ":q";
    private static final String BEATS = STATE + ":h";
    private static final Duration LONG_WAIT = Fixture.LONG_TTL;

    /** As the store asks for one that waits; {@code how} is claim, poll, ticket, push and change. */
    private static Object acquire(String token, String attempt, String want, long ttl, String how, String... more) {
        String script = new String(Script.ACQUIRE.source(), StandardCharsets.UTF_8);
        Stream<String> words =
                Stream.of("EVAL", script, "1", STATE, token, "" + ttl, "" + (ttl + 600_000), attempt, want, how);
        return Objects.requireNonNull(
                server.call(Stream.concat(words, Arrays.stream(more)).toArray(String[]::new)));
    }

    private static long queue(String token, String attempt, String want, long ttl, String pollAndPush) {
        String[] parts = pollAndPush.split(" ", -1);
        Object reply = acquire(token, attempt, want, ttl, "- " + parts[0] + " 0 " + parts[1] + " e");
        List<?> queued = (List<?>) reply;
        assertThat(queued.get(0)).isEqualTo(0L);
        return (Long) queued.get(1);
    }

    private static long left(RedisStore store, Key key) {
        return store.find(key).orElseThrow().lease().ttl().toMillis();
    }

    private CompletableFuture<Response> waiting(RedisStore from, Key key, Duration ttl) {
        return Background.supply(() -> {
            try {
                return from.waitAndSave(exclusive(key, ttl), LONG_WAIT, new CompletableFuture<>());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** The lease of the only hold ends, and nobody is told. */
    private void endLease() {
        server.call("SET", STATE, server.text("GET", STATE).replaceFirst(":[0-9]+:0(:[0-9]+)$", ":1:0$1"), "KEEPTTL");
        Awaitility.await().pollDelay(Duration.ZERO).until(() -> keys.held().isEmpty());
    }

    /** A8: the look of the second was served with the first, for the TTL of that one, and stayed in the queue. */
    @Test
    void givenAKeyWaitsTwice_whenTheSecondLooksFirst_thenItHasItsOwnTtlAndWaitsNoMore() {
        granted(store.save(exclusive(Key.of(RESOURCE))));
        Key key = Key.of(RESOURCE);
        long ignored = queue(key.token(), "one.1", "x", 1_500, "100 0");
        long ticket = queue(key.token(), "two.1", "x", 60_000, "100 0");
        endLease();

        Object reply = acquire(key.token(), "two.1", "x", 60_000, "- 100 " + ticket + " 0 e");

        assertThat(reply).isInstanceOf(Long.class);
        assertThat(left(store, key)).isGreaterThan(30_000);
        assertThat(keys.waiting()).isEmpty();
        assertThat(ignored).isLessThan(ticket);
    }

    /** A8: what two attempts of a key rely on, the end of one of them must not take from the other. */
    @Test
    void givenAKeyWaitsTwice_whenOneIsCancelledAfterBothWereGranted_thenTheOtherHolds() {
        granted(store.save(exclusive(Key.of(RESOURCE))));
        Key key = Key.of(RESOURCE);
        long one = queue(key.token(), "one.1", "x", 60_000, "100 0");
        long two = queue(key.token(), "two.1", "x", 60_000, "100 0");
        endLease();
        assertThat(acquire(key.token(), "one.1", "x", 60_000, "- 100 " + one + " 0 e"))
                .isInstanceOf(Long.class);
        assertThat(acquire(key.token(), "two.1", "x", 60_000, "- 100 " + two + " 0 e"))
                .isInstanceOf(Long.class);

        String script = new String(Script.CANCEL.source(), StandardCharsets.UTF_8);
        Object cancelled = server.call("EVAL", script, "1", STATE, key.token(), "one.1", "600000", "none");

        assertThat(cancelled).isEqualTo(0L);
        assertThat(store.find(key)).isPresent();
    }

    /** A8: both were answered that the hold is promoted; the cancel of the second made a shared hold of it again. */
    @Test
    void givenAKeyWaitsTwiceToBePromoted_whenOneIsCancelledAfterBothWereGranted_thenItStaysExclusive() {
        Key reader = Key.of(RESOURCE);
        Key key = Key.of(RESOURCE);
        granted(store.save(shared(reader)));
        granted(store.save(shared(key)));
        queue(key.token(), "one.1", "X", 60_000, "100 0");
        queue(key.token(), "two.1", "X", 60_000, "100 0");
        assertThat(store.delete(reader)).isTrue();
        assertThat(acquire(key.token(), "one.1", "X", 60_000, "- 100 1 0 e")).isInstanceOf(Long.class);
        assertThat(acquire(key.token(), "two.1", "X", 60_000, "- 100 1 0 e")).isInstanceOf(Long.class);

        String script = new String(Script.CANCEL.source(), StandardCharsets.UTF_8);
        Object cancelled = server.call("EVAL", script, "1", STATE, key.token(), "two.1", "600000", "none");

        assertThat(cancelled).isEqualTo(0L);
        assertThat(store.find(key).orElseThrow().mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(store.save(shared(Key.of(RESOURCE)))).isInstanceOf(Response.Conflicted.class);
    }

    /** B1: the server did not know the script, and was sent its text when the wait had been cancelled. */
    @Test
    void givenTheScriptIsUnknown_whenTheWaitEndsMeanwhile_thenNothingIsHeld() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore slow = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Key warm = Key.of("warm-up");
            granted(slow.save(exclusive(warm)));
            assertThat(slow.delete(warm)).isTrue();
            server.call("SCRIPT", "FLUSH");
            server.call("SCRIPT", "LOAD", new String(Script.CANCEL.source(), StandardCharsets.UTF_8));
            server.call("CONFIG", "RESETSTAT");
            proxy.delay(Duration.ofMillis(150));

            Response attempt = slow.waitAndSave(
                    exclusive(Key.of(RESOURCE)), LONG_WAIT, CompletableFuture.completedFuture("withdrawn"));

            assertThat(attempt).isInstanceOf(Response.Conflicted.class);
            // What is sent now comes behind all that was sent before.
            assertThat(slow.find(warm)).isEmpty();
            assertThat(keys.held()).isEmpty();
            assertThat(keys.waiting()).isEmpty();
        }
    }

    /** B3: who polls every 100 ms was believed to be alive for as long as one who looks every 5 s. */
    @Test
    void givenAPollerIsGone_whenReleased_thenTheNextHasItSoon() throws Exception {
        server.call("ACL", "SETUSER", "poller", "on", ">secret", "~*", "&*", "+@all", "-subscribe", "-ssubscribe");
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore gone = open(PatientDsn.redis("redis://poller:secret@" + proxy.address()));
                LockFactory locks = LockFactory.connect(PatientDsn.redis(server.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            CompletableFuture<Response> unused = waiting(gone, Key.of(RESOURCE), LONG_TTL);
            Awaitility.await().until(() -> Objects.equals(server.call("EXISTS", BEATS), 1L));

            proxy.refuse();
            assertThat(holder.release()).isTrue();

            assertThat(locks.createLock(RESOURCE, LONG_TTL).tryAcquire(TimeLimits.LIMIT))
                    .isTrue();
            assertThat(unused).isNotCancelled();
        }
    }

    /** B4: who became the first by quick hand-overs did not know that the lease ends before its next look. */
    @Test
    void givenTheLastInLine_whenItBecomesTheFirstBehindAShortLease_thenItIsToldToLook() throws Exception {
        Key holder = Key.of(RESOURCE);
        granted(store.save(exclusive(holder)));
        try (RedisConnection listener = server.connect()) {
            listener.call("SUBSCRIBE", "lock:in:me");
            // However long the test takes, it is not taken for dead.
            long unused = queue("short-token", "me.1", "x", 3_000, "60000 1");
            long unusedToo = queue("long-token", "me.2", "x", 60_000, "5000 1");

            assertThat(store.delete(holder)).isTrue();

            assertThat(heard(listener)).startsWith("me.1 x ");
            assertThat(heard(listener)).isEqualTo("me.2 ?");
        }
    }

    private static String heard(RedisConnection listener) {
        return String.valueOf(((List<?>) Objects.requireNonNull(listener.receive())).get(2));
    }

    /** B6: 8,000 readers kept the server busy for six seconds. */
    @Test
    void givenThousandsOfReadersWait_whenReleased_thenTheServerIsNeverBusyForLong() {
        // They poll so rarely that none is taken for dead, however long the test takes.
        int readers = 8_000;
        Key holder = Key.of(RESOURCE);
        granted(store.save(exclusive(holder)));
        long ticket = queue("token0", "many.0", "s", 60_000, "60000 1");
        try (RedisConnection listener = server.connect();
                RedisConnection filler = server.connect()) {
            listener.call("SUBSCRIBE", "lock:in:many");
            IntStream.range(1, readers)
                    .forEach(i -> filler.call(
                            "ZADD", QUEUE, "" + (ticket + i), "token" + i + " many." + i + " s 60000 60000 1"));
            long tooLong = TimeLimits.scaled(Duration.ofSeconds(1)).toNanos() / 1_000;
            server.call("CONFIG", "SET", "slowlog-log-slower-than", Long.toString(tooLong));
            server.call("SLOWLOG", "RESET");

            assertThat(store.delete(holder)).isTrue();

            int granted = 0;
            while (granted < readers) {
                String[] message = heard(listener).split(" ", -1);
                if (message.length == 2) {
                    String number = message[0].substring(message[0].indexOf('.') + 1);
                    String its = "" + (ticket + Long.parseLong(number));
                    assertThat(acquire("token" + number, message[0], "s", 60_000, "- 60000 " + its + " 1 e"))
                            .isInstanceOf(Long.class);
                    granted++;
                } else {
                    granted++;
                }
            }
            assertThat(store.holders(RESOURCE)).hasSize(readers);
            assertThat(server.call("SLOWLOG", "LEN")).isEqualTo(0L);
        } finally {
            server.call("CONFIG", "SET", "slowlog-log-slower-than", "10000");
        }
    }

    /** B7: who has subscribed to a pattern was counted as the waiter that is gone. */
    @Test
    void givenAPatternCoversTheChannels_whenTheNextInLineIsGone_thenTheOneBehindIsGranted() {
        try (RedisConnection watcher = server.connect()) {
            watcher.call("PSUBSCRIBE", "lock:*");
            Key holder = Key.of(RESOURCE);
            granted(store.save(exclusive(holder)));
            long unused = queue("gone-token", "nobody.1", "x", 60_000, "5000 1");

            assertThat(store.delete(holder)).isTrue();

            assertThat(store.save(exclusive(Key.of(RESOURCE)))).isInstanceOf(Response.Granted.class);
        }
    }

    /** C19: the heartbeat of a waiter that was left out stayed for as long as others waited. */
    @Test
    void givenADeadWriterInFrontOfReaders_whenItIsLeftOut_thenNoHeartbeatStays() {
        granted(store.save(shared(Key.of(RESOURCE))));
        long ticket = queue("gone-token", "nobody.1", "x", 60_000, "5000 1");
        // It came so long ago that its ticket does not show that it lives.
        acquire("gone-token", "nobody.1", "x", 60_000, "- 5000 " + (ticket - 6_000_000) + " 1 e");
        assertThat(server.call("HLEN", BEATS)).isEqualTo(1L);
        long reader = queue("read-token", "reader.1", "s", 60_000, "5000 1");

        assertThat(acquire("read-token", "reader.1", "s", 60_000, "- 5000 " + reader + " 1 e"))
                .isInstanceOf(Long.class);

        assertThat(server.call("EXISTS", BEATS)).isEqualTo(0L);
    }

    /** C19: the first was served, and told, before the second was found to be unreadable: then none of it was written. */
    @Test
    void givenABatchThatFails_whenSomebodyCouldBeServed_thenNobodyIsTold() {
        Key expired = Key.of(RESOURCE);
        granted(store.save(exclusive(expired)));
        server.call("SET", "lock:{second}:i", "what somebody wrote");
        try (RedisConnection listener = server.connect()) {
            listener.call("SUBSCRIBE", "lock:in:me");
            long unused = queue("my-token", "me.1", "x", 60_000, "5000 1");
            endLease();

            assertThatThrownBy(() -> store.saveAll(
                            List.of(exclusive(Key.of(RESOURCE)), exclusive(Key.of("second"))),
                            new StateCheck(7, StateRule.BOTH_INDEXES)))
                    .isInstanceOf(LockStorageException.class);

            server.call("PUBLISH", "lock:in:me", "the last");
            assertThat(heard(listener)).isEqualTo("the last");
        }
    }

    /** C19: what was given up before the failure was not counted when it was asked again. */
    @Test
    void givenAQueueThatCannotBeRead_whenManyAreGivenUp_thenAllOrNone() {
        Key first = Key.of("first");
        Key second = Key.of(RESOURCE);
        granted(store.save(exclusive(first)));
        granted(store.save(exclusive(second)));
        long unused = queue("other", "nobody.1", "x", 60_000, "5000 1");
        server.call("DEL", QUEUE);
        server.call("SET", QUEUE, "what somebody wrote");

        assertThatThrownBy(() -> store.deleteAll(List.of(first, second))).isInstanceOf(LockStorageException.class);

        assertThat(store.find(first)).isPresent();
        server.call("DEL", QUEUE);
        assertThat(store.deleteAll(List.of(first, second))).isEqualTo(2);
    }

    /** A5, F1: a batch extends as well, and shortens only what it is told to set. */
    @Test
    void givenHeld_whenABatchSavesItWithAShorterTtl_thenItEndsSoonerOnlyIfSet() {
        Key key = Key.of(RESOURCE);
        Key claim = holding(key, store.save(exclusive(key, LONG_TTL)));
        Duration shorter = Duration.ofSeconds(20);

        assertThat(store.saveAll(List.of(exclusive(claim, shorter)))).isInstanceOf(BatchAttempt.Granted.class);
        assertThat(left(store, key)).isGreaterThan(20_000);

        assertThat(store.saveAll(List.of(exclusive(claim, shorter).with(LeaseChange.SET))))
                .isInstanceOf(BatchAttempt.Granted.class);
        assertThat(left(store, key)).isLessThanOrEqualTo(20_000);
    }

    /** A18: repeated, a request that ends a lease sooner may run after one that has extended it. */
    @Test
    void givenARequestThatShortens_whenItsReplyIsLost_thenItIsNotRepeated() {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Key key = Key.of(RESOURCE);
            Key claim = holding(key, far.save(exclusive(key)));
            granted(far.refresh(exclusive(claim)));
            CompletableFuture<Void> lost = proxy.loseReplyTo(requestOf(Script.REFRESH));

            assertThatThrownBy(() ->
                            far.refresh(exclusive(claim, Duration.ofSeconds(20)).with(LeaseChange.SET)))
                    .isInstanceOf(LockStorageException.class);

            assertThat(lost).isCompleted();
            CompletableFuture<Void> lostToo = proxy.loseReplyTo(requestOf(Script.REFRESH));
            assertThat(far.refresh(exclusive(claim))).isInstanceOf(Response.Granted.class);
            assertThat(lostToo).isCompleted();
        }
    }

    /** The repeated demotion found its own shared hold, and took that for a loss. */
    @Test
    void givenADemotion_whenItsReplyIsLost_thenTheRepetitionFindsTheSharedHold() {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Key key = Key.of(RESOURCE);
            Key claim = holding(key, far.save(exclusive(key)));
            CompletableFuture<Void> lost = proxy.loseReplyTo(STATE);

            Response attempt = far.save(shared(claim));

            assertThat(lost).isCompleted();
            assertThat(granted(attempt).mode()).isEqualTo(LockMode.SHARED);
        }
    }

    /** What the check before a hand-over to another store costs: one command more than to this one. */
    @Test
    void givenTheNextWaitsInAnotherStore_whenHandedOver_thenTheListenersAreCountedAndTheGrantIsPublished()
            throws Exception {
        try (LockFactory locks = LockFactory.connect(PatientDsn.redis(server.dsn()));
                LockFactory others = LockFactory.connect(PatientDsn.redis(server.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = BackgroundCall.start(
                    () -> others.createLock(RESOURCE, LONG_TTL).acquire());
            Awaitility.await().until(() -> keys.listening().size() == 1);
            keys.resetCommands();

            assertThat(holder.release()).isTrue();

            assertThat(waiting.result().isAcquired()).isTrue();
            assertThat(new ArrayList<>(keys.commands().entrySet()))
                    .contains(Map.entry("publish", 1L), Map.entry("pubsub|numsub", 1L));
        }
    }
}

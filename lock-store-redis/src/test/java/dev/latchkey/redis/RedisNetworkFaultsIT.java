package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages are lost, connections break while somebody waits, or nothing arrives any more and nobody says so. */
class RedisNetworkFaultsIT extends BehindAProxy {

    private static final Duration SHORT_LIMIT = Duration.ofMillis(100);

    @Test
    void givenTheGrantIsLost_whenTheWaiterLooks_thenItHasIt() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiter(locks);
        CompletableFuture<Void> lost = proxy.dropMessage(CHANNEL);

        assertThat(holder.release()).isTrue();

        assertThat(lost).succeedsWithin(TimeLimits.LIMIT);
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.isAcquired()).isTrue();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenTheSubscriptionIsCutAtTheGrant_whenTheWaiterIsBack_thenItHasIt() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiter(locks);
        CompletableFuture<Void> cut = proxy.cutAtMessage(CHANNEL);

        assertThat(holder.release()).isTrue();

        assertThat(cut).succeedsWithin(TimeLimits.LIMIT);
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SCAN", "who:"})
    void givenTheConnectionIsCut_whenResourcesAreListed_thenItIsAskedAgain(String part) throws Exception {
        assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquire()).isTrue();
        try (RedisStore store = open(PatientDsn.redis("redis://" + proxy.address()))) {
            assertThat(store.list(RESOURCE, Optional.empty(), 10).resources()).hasSize(1);
            CompletableFuture<Void> lost = proxy.loseRequest(part);

            assertThat(store.list(RESOURCE, Optional.empty(), 10).resources()).hasSize(1);

            assertThat(lost).isDone();
        }
    }

    /** Else the first copy, should it be late, would end what the same key holds by then. */
    @Test
    void givenAClientThatRepeatsCommands_whenItHasRepeatedARelease_thenTheOutcomeIsInDoubt() throws Exception {
        RedisClient client = RedisClient.create(server.dsn());
        try (RedisStore store =
                RedisStore.builder(client).commandTimeout(TimeLimits.LIMIT).build()) {
            Lock lock = new LockFactory(store).createLock(RESOURCE, LONG_TTL);
            // So that the server knows the scripts.
            assertThat(lock.tryAcquire() && lock.release()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            String released = lock.key().token();
            server.call("CLIENT", "PAUSE", "60000", "WRITE");
            BackgroundCall<Boolean> releasing = BackgroundCall.start(lock::release);
            Awaitility.await().until(() -> paused() != null);
            String first = paused();

            server.call("CLIENT", "KILL", "TYPE", "normal");
            Awaitility.await().until(() -> paused() != null && !paused().equals(first));
            server.call("CLIENT", "UNPAUSE");

            assertThatThrownBy(releasing::result)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            inDoubt -> assertThat(inDoubt.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.key().token()).isNotEqualTo(released);
        } finally {
            server.call("CLIENT", "UNPAUSE");
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** The id of the connection whose command has to wait until the pause is over; null if there is none. */
    private static @Nullable String paused() {
        return server.text("CLIENT", "LIST")
                .lines()
                .filter(line -> line.contains(" flags=b "))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .findFirst()
                .orElse(null);
    }

    /** Nobody reads the grant any more, and nothing can be asked: it is given back as soon as that is possible. */
    @Test
    void givenGrantedWhileItCannotLeave_whenTheCommandsAreBack_thenItIsFree() throws Exception {
        RedisClient client = RedisClient.create();
        try (var commands = client.connect(RedisURI.create("redis://" + proxy.address()));
                var messages = client.connectPubSub(RedisURI.create(server.dsn()));
                RedisStore store = RedisStore.builder(commands, messages)
                        .commandTimeout(TimeLimits.scaled(Duration.ofSeconds(3)))
                        .build()) {
            server.call("DEL", "lock:{warm-up}");
            Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            LockFactory leaving = new LockFactory(store);
            CompletableFuture<Thread> waiter = new CompletableFuture<>();
            BackgroundCall<Lock> waiting = BackgroundCall.start(() -> {
                waiter.complete(Thread.currentThread());
                return leaving.createLock(RESOURCE, LONG_TTL).acquire();
            });
            RedisKeys keys = new RedisKeys(server);
            Awaitility.await().until(() -> keys.listening().size() == 1);
            proxy.refuse();

            waiting.interrupt();
            // A grant that comes before the waiter has noticed is taken.
            Awaitility.await().until(() -> !waiter.join().isInterrupted());
            assertThat(holder.release()).isTrue();

            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            assertThat(keys.held()).hasSize(1);
            proxy.heal();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> keys.held().isEmpty());
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void givenAllConnectionsOfAWaiterAreCut_whenItIsBack_thenItHasItsPlaceAndWaitsForTheMessage() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> first = startWaiter(locks);
        BackgroundCall<Lock> second =
                BackgroundCall.start(() -> rivals.createLock(RESOURCE, LONG_TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.listening().size() == 2);

        proxy.cut();
        Awaitility.await().until(() -> proxy.connections() == 2);
        // Back and subscribed: else the release would have to take it for dead.
        Awaitility.await().until(() -> subscribers() == 2);
        assertThat(holder.release()).isTrue();

        Lock next = first.result();
        assertThat(second.isDone()).isFalse();
        assertThat(next.release()).isTrue();
        Lock last = second.result();
        long token = last.fencingToken().orElseThrow();
        assertThat(last.release()).isTrue();
        checkAftermath(token);
    }

    private static long subscribers() {
        return server.call("PUBSUB", "CHANNELS", CHANNEL + "*") instanceof List<?> channels ? channels.size() : -1;
    }

    @Test
    void givenTheNetworkIsSilentBeyondTheLease_whenARivalGetsIt_thenTheHolderKnewBefore() throws Exception {
        BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
        Lock renewed = locks.lock(RESOURCE)
                .ttl(HELD_TTL)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElseThrow();

        proxy.silence();

        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();
        assertThat(renewed.isExpired()).isTrue();
        assertThat(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.STORE_UNREACHABLE);
        proxy.heal();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        Awaitility.await().ignoreException(LockStorageException.class).until(() -> !renewed.isAcquired());
        assertThat(rival.isAcquired()).isTrue();
        assertThat(rival.release()).isTrue();
        checkAftermath(token, HELD_TTL);
    }

    /** A holder of short leases asks for no longer than they last, which is shorter than the command timeout. */
    @Test
    void givenTheConnectionIsSilent_whenOnlyRefreshesWithAShortLimitAreSent_thenAnotherIsOpened() {
        Duration timeout = TimeLimits.scaled(Duration.ofSeconds(1));
        try (RedisStore store = open("redis://" + proxy.address() + "?timeout=" + timeout.toMillis() + "ms")) {
            Request request = exclusive(Key.of(RESOURCE));
            saveInTheEnd(store, request);
            awaitBothSubscribed();
            int before = proxy.connections();
            proxy.silence();

            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> {
                assertThat(store.refreshAll(List.of(request), SHORT_LIMIT))
                        .hasOnlyElementsOfType(RefreshResult.Failed.class);
                return proxy.connections() > before;
            });
            proxy.heal();
        }
    }

    /** A machine that stands still may take longer than the limit. */
    private static void saveInTheEnd(RedisStore store, Request request) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockStorageException.class)
                .until(() -> store.save(request) instanceof Response.Granted);
    }

    /** The store of a test, and the one that all tests have, which may be the first: no connection is still to come. */
    private static void awaitBothSubscribed() {
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.subscriptions() == 2);
    }

    @Test
    void givenASlowServer_whenItAnswersAfterEachShortLimit_thenTheConnectionStays() {
        // What the machine adds to the delay must stay below it.
        Duration timeout = TimeLimits.ttl(Duration.ofSeconds(4));
        try (RedisStore store = open("redis://" + proxy.address() + "?timeout=" + timeout.toMillis() + "ms")) {
            Request request = exclusive(Key.of(RESOURCE));
            saveInTheEnd(store, request);
            awaitBothSubscribed();
            int before = proxy.connections();
            proxy.delay(SHORT_LIMIT.multipliedBy(4));
            long begun = System.nanoTime();

            int late = 0;
            while (System.nanoTime() - begun < timeout.multipliedBy(2).toNanos()) {
                // A thread that stands still for long enough finds the answer there.
                late += store.refreshAll(List.of(request), SHORT_LIMIT).get(0) instanceof RefreshResult.Failed ? 1 : 0;
                assertThat(proxy.connections()).isEqualTo(before);
            }
            assertThat(late).isGreaterThan(1);
            proxy.delay(Duration.ZERO);
        }
    }

    /** It sends away who waits, and looks for them once: who comes just then must find that it is closed. */
    @Test
    void givenTheStoreIsBeingClosed_whenAnotherBeginsToWait_thenItFailsAtOnce() throws Exception {
        assertThat(rivals.createLock(RESOURCE, LONG_TTL).tryAcquire()).isTrue();
        RedisStore store = open("redis://" + proxy.address() + "?timeout=20s");
        BackgroundCall<Response> first = BackgroundCall.start(() -> waitWith(store));
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.listening().size() == 1);
        proxy.silence();
        BackgroundCall<Boolean> closing = BackgroundCall.start(() -> {
            store.close();
            return true;
        });
        closing.awaitWaiting();

        BackgroundCall<Response> second = BackgroundCall.start(() -> waitWith(store));

        Awaitility.await().atMost(TimeLimits.scaled(Duration.ofSeconds(10))).until(second::isDone);
        assertThatThrownBy(second::result).hasMessageContaining("closed");
        assertThat(closing.isDone()).isFalse();
        proxy.heal();
        assertThat(closing.result()).isTrue();
        assertThatThrownBy(first::result).hasMessageContaining("closed");
        assertThat(keys.waiting()).isEmpty();
    }

    private static Response waitWith(RedisStore store) throws InterruptedException {
        return store.waitAndSave(exclusive(Key.of(RESOURCE)), LONG_TTL, new CompletableFuture<>());
    }

    /** The first wait of a store opens its subscription: nobody may hang in that for longer than for an answer. */
    @Test
    void givenTheNetworkFallsSilent_whenTheFirstWaitsBegin_thenTheyEndAndCanBeInterrupted() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        long token = holder.fencingToken().orElseThrow();
        proxy.silence();
        BackgroundCall<Boolean> limited =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, SHORT_TTL).tryAcquire(Duration.ofMillis(300)));
        BackgroundCall<Lock> unlimited =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, SHORT_TTL).acquire());
        limited.awaitWaiting();
        unlimited.awaitWaiting();

        unlimited.interrupt();

        assertThatThrownBy(unlimited::result).isInstanceOfAny(InterruptedException.class, LockStorageException.class);
        try {
            assertThat(limited.result()).isFalse();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }
        proxy.heal();
        assertThat(holder.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenTheNetworkIsSilent_whenTheStoreIsFirstUsed_thenItFailsInTimeAndCanBeInterrupted() throws Exception {
        proxy.silence();
        try (LockFactory unconnected = LockFactory.connect("redis://" + proxy.address())) {
            BackgroundCall<Boolean> trying =
                    BackgroundCall.start(() -> unconnected.createLock(RESOURCE).tryAcquire());
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> unconnected.createLock(RESOURCE).acquire());
            trying.awaitWaiting();
            waiting.awaitWaiting();

            waiting.interrupt();

            assertThatThrownBy(waiting::result).isInstanceOfAny(InterruptedException.class, LockStorageException.class);
            assertThatThrownBy(trying::result).isInstanceOf(LockStorageException.class);
            proxy.heal();
        }
    }

    /** Nobody was ever asked whether another has it, and nobody had. */
    @Test
    void givenTheNetworkIsAwayForLongerThanTheMaxWait_whenItIsBack_thenItIsNoConflict() throws Exception {
        try (LockFactory patient = LockFactory.connect("redis://" + proxy.address() + "?timeout=20s")) {
            assertThat(patient.createLock("warm-up-too").tryAcquire()).isTrue();
            proxy.refuse();
            long begun = System.nanoTime();
            Duration maxWait = Duration.ofMillis(200);
            BackgroundCall<Boolean> waiting = BackgroundCall.start(
                    () -> patient.createLock(RESOURCE, LONG_TTL).tryAcquire(maxWait));
            Awaitility.await().until(() -> System.nanoTime() - begun > 3 * maxWait.toNanos());

            proxy.heal();

            assertThat(waiting.result()).isTrue();
        }
    }

    @Test
    void givenReleaseFails_whenTheNetworkIsBack_thenNothingIsRenewedAnyMore() throws Exception {
        Lock renewed = locks.lock(RESOURCE).ttl(HELD_TTL).autoRefresh().create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElseThrow();
        proxy.refuse();

        assertThatThrownBy(renewed::release).isInstanceOf(LockStorageException.class);

        proxy.heal();
        checkAftermath(token, HELD_TTL);
    }
}

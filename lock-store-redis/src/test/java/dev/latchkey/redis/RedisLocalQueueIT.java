package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiters of one store that are at home, and what happens to the release that takes them along. */
class RedisLocalQueueIT extends WithAStore {

    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{report}";
    private static final Duration LONG_WAIT = Duration.ofMinutes(10);

    private RedisStore elsewhere;

    @BeforeEach
    void openAnother() {
        elsewhere = open(server.dsn());
    }

    @AfterEach
    void closeAnother() {
        elsewhere.close();
    }

    /** One wait, and what it was granted. */
    private record Wait(Key key, CompletableFuture<Void> withdrawn, BackgroundCall<Response> call) {

        static Wait in(RedisStore store, Request request) {
            return in(store, request, LONG_WAIT);
        }

        /** Returns once it waits, be it at home or in the queue on the server. */
        static Wait in(RedisStore store, Request request, Duration maxWait) {
            CompletableFuture<Void> withdrawn = new CompletableFuture<>();
            BackgroundCall<Response> call = BackgroundCall.start(() -> store.waitAndSave(request, maxWait, withdrawn));
            call.awaitWaiting();
            return new Wait(request.key(), withdrawn, call);
        }

        Response.Granted grant() throws Exception {
            return granted(call.result());
        }
    }

    private static Request request() {
        return exclusive(Key.of(RESOURCE), LONG_TTL);
    }

    /** Returns the first waiter of a store, in the queue on the server and listening. */
    private Wait first(RedisStore of) {
        return queued(Wait.in(of, request()));
    }

    /**
     * Returns once it is in the queue on the server. Before whoever waits elsewhere next, that takes longer than the round trip that
     * its time of arrival may be wrong by.
     */
    private Wait queued(Wait wait) {
        Awaitility.await()
                .until(() -> keys.listening().stream()
                        .anyMatch(waiter -> waiter.contains(wait.key().token())));
        return wait;
    }

    private Key held() {
        Key holder = Key.of(RESOURCE);
        granted(store.save(exclusive(holder, LONG_TTL)));
        return holder;
    }

    @Test
    void givenWaitersOfTwoStores_whenReleasedOneByOne_thenTheOrderOfArrival() throws Exception {
        Key holder = held();
        List<Wait> inOrder = List.of(
                first(store),
                queued(Wait.in(store, request())),
                first(elsewhere),
                queued(Wait.in(store, request())),
                queued(Wait.in(elsewhere, request())),
                Wait.in(store, request()));
        assertThat(store.delete(holder)).isTrue();

        List<RedisStore> owners = List.of(store, store, elsewhere, store, elsewhere, store);
        long last = 0;
        for (int i = 0; i < inOrder.size(); i++) {
            long token = inOrder.get(i).grant().fencingToken().orElseThrow();
            assertThat(token).isGreaterThan(last);
            last = token;
            assertThat(inOrder.subList(i + 1, inOrder.size()))
                    .as("still waiting, when number %d is granted", i)
                    .noneMatch(wait -> wait.call().isDone());
            assertThat(owners.get(i).delete(inOrder.get(i).key())).isTrue();
        }
        assertThat(keys.waiting()).isEmpty();
        assertThat(keys.held()).isEmpty();
    }

    @Test
    void givenAReaderElsewhereCameLater_whenReleased_thenTheReaderIsLater() throws Exception {
        Key holder = held();
        Wait first = first(store);
        Wait second = queued(Wait.in(store, request()));
        Wait reader = Wait.in(elsewhere, shared(Key.of(RESOURCE), LONG_TTL));
        Awaitility.await().until(() -> keys.waiting().stream().anyMatch(waiter -> waiter.contains(" s ")));
        assertThat(store.delete(holder)).isTrue();
        first.grant();

        assertThat(store.delete(first.key())).isTrue();
        second.grant();
        assertThat(reader.call().isDone()).isFalse();

        assertThat(store.delete(second.key())).isTrue();
        reader.grant();
    }

    /** Nobody releases, so after a moment it is where everybody sees it. */
    @Test
    void givenSomebodyAtHome_whenNobodyReleases_thenItIsInTheQueueAtItsTime() {
        Key holder = held();
        Wait first = first(store);
        Wait second = Wait.in(store, request());

        Awaitility.await().until(() -> keys.waiting().size() == 2);

        assertThat(keys.waiting().get(0)).contains(first.key().token());
        assertThat(keys.waiting().get(1)).contains(second.key().token());
        assertThat(store.delete(holder)).isTrue();
    }

    @Test
    void givenSomebodyAtHome_whenTheFirstGivesUp_thenItTakesThatPlace() throws Exception {
        Key holder = held();
        Wait first = first(store);
        Wait second = Wait.in(store, request());

        first.withdrawn().complete(null);

        assertThat(first.call().result()).isInstanceOf(Response.Conflicted.class);
        Awaitility.await()
                .until(() -> keys.waiting().size() == 1
                        && keys.waiting().get(0).contains(second.key().token()));
        assertThat(store.delete(holder)).isTrue();
        second.grant();
    }

    @Test
    void givenAtHome_whenWithdrawnOrInterrupted_thenItLeavesNothing() throws Exception {
        Key holder = held();
        Wait first = first(store);
        Wait withdrawn = Wait.in(store, request());
        Wait interrupted = Wait.in(store, request());

        withdrawn.withdrawn().complete(null);
        interrupted.call().interrupt();

        assertThat(withdrawn.call().result()).isInstanceOf(Response.Conflicted.class);
        assertThatThrownBy(interrupted.call()::result).isInstanceOf(InterruptedException.class);
        assertThat(store.delete(holder)).isTrue();
        first.grant();
        assertThat(store.delete(first.key())).isTrue();
        assertThat(keys.held()).isEmpty();
        assertThat(keys.waiting()).isEmpty();
    }

    /** Without an answer of the server it would not be known whether the lock is held. */
    @Test
    void givenAtHome_whenItsMaxWaitIsOver_thenTheServerWasAsked() throws Exception {
        held();
        Wait unused = first(store);
        keys.resetCommands();

        Response response = store.waitAndSave(request(), Duration.ofMillis(1), new CompletableFuture<>());

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(keys.commands().get("evalsha")).isEqualTo(2);
        assertThat(unused.call().isDone()).isFalse();
    }

    @Test
    void givenAtHome_whenTheStoreIsClosed_thenItFailsAndLeavesNothing() {
        RedisStore closing = open(server.dsn());
        Key holder = held();
        Wait first = first(closing);
        Wait atHome = Wait.in(closing, request());

        closing.close();

        assertThatThrownBy(first.call()::result).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(atHome.call()::result).isInstanceOf(LockStorageException.class);
        assertThat(keys.waiting()).isEmpty();
        assertThat(store.delete(holder)).isTrue();
    }

    /** What the release did is not known to whoever released; the one that it took along finds out. */
    @Test
    void givenARelease_whenItsReplyIsLost_thenTheOneItTookAlongIsGrantedTheLock() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open("redis://" + proxy.address())) {
            Key holder = Key.of(RESOURCE);
            granted(far.save(exclusive(holder, LONG_TTL)));
            Wait first = first(far);
            assertThat(far.delete(holder)).isTrue();
            first.grant();
            Wait second = first(far);
            Wait third = Wait.in(far, request());
            assertThat(far.delete(first.key())).isTrue();
            second.grant();
            CompletableFuture<Void> lost = proxy.loseReplyTo(STATE);

            assertThatThrownBy(() -> far.delete(second.key())).isInstanceOf(LockStorageException.class);

            assertThat(lost).isCompleted();
            third.grant();
            assertThat(far.delete(third.key())).isTrue();
            assertThat(keys.held()).isEmpty();
            assertThat(keys.waiting()).isEmpty();
        }
    }

    /** The release finds nothing, and the one it took along must not wait for an answer that does not come. */
    @Test
    void givenTheHoldIsGone_whenItIsReleased_thenTheOneItTookAlongIsGrantedTheLock() throws Exception {
        Key holder = held();
        Wait first = first(store);
        assertThat(store.delete(holder)).isTrue();
        first.grant();
        Wait second = first(store);
        assertThat(store.delete(first.key())).isTrue();
        Wait third = Wait.in(store, request());
        long token = second.grant().fencingToken().orElseThrow();
        assertThat(elsewhere.forceRelease(RESOURCE, token)).isTrue();

        assertThat(store.delete(second.key())).isFalse();

        third.grant();
        assertThat(store.delete(third.key())).isTrue();
    }
}

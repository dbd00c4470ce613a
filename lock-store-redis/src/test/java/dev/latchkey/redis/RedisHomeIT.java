package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiters that stay at home until a release takes them along, and what meets that release. */
class RedisHomeIT extends WithAStore {

    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{report}";
    private static final int MANY = 6;
    private static final Duration ROUND_TRIP = TimeLimits.ttl(Duration.ofMillis(100));
    private static final Duration LONG_WAIT = Duration.ofMinutes(10);

    private final ExecutorService steps = Executors.newCachedThreadPool();
    private FaultProxy proxy;
    private StoreWithHome home;
    private long longestNanos;

    @BeforeEach
    void openOne() {
        proxy = FaultProxy.to(server.address());
        home = new StoreWithHome("redis://" + proxy.address());
    }

    @AfterEach
    void closeIt() {
        proxy.heal();
        home.close();
        proxy.close();
        steps.shutdownNow();
    }

    private static Request request() {
        return exclusive(Key.of(RESOURCE), LONG_TTL);
    }

    private Key held() {
        Key holder = Key.of(RESOURCE);
        granted(home.save(exclusive(holder, LONG_TTL)));
        return holder;
    }

    /** Returns the first waiter, which is in the queue on the server, and listens. */
    private BackgroundWait first() {
        return first(home);
    }

    private BackgroundWait first(StoreWithHome of) {
        Request request = request();
        long start = System.nanoTime();
        BackgroundWait first = BackgroundWait.in(of, request);
        awaitListening(request.key());
        longestNanos = Math.max(longestNanos, System.nanoTime() - start);
        return first;
    }

    private void awaitListening(Key key) {
        Awaitility.await().until(() -> keys.listening().stream().anyMatch(waiter -> waiter.contains(key.token())));
    }

    /** Until more time has passed than the longest round trip has taken, which is how exact the time of arrival is. */
    private void awaitLater() {
        long now = System.nanoTime();
        long exactness = Math.max(ROUND_TRIP.toNanos(), longestNanos);
        Awaitility.await().until(() -> System.nanoTime() - now > exactness);
    }

    private BackgroundWait next() {
        return BackgroundWait.in(home, request());
    }

    /** Returns who holds the lock, granted in turn, while the second in the result is at home behind it. */
    private List<BackgroundWait> heldInTurnAndOneAtHome() throws Exception {
        Key holder = held();
        BackgroundWait first = first();
        BackgroundWait atHome = next();
        assertThat(home.release(holder)).isTrue();
        first.grant();
        return List.of(first, atHome);
    }

    private void assertNothingIsLeft() {
        assertThat(keys.held()).isEmpty();
        assertThat(keys.waiting()).isEmpty();
    }

    @Test
    void givenManyAtHome_whenReleasedOneByOne_thenInOrderByOneScriptEach() throws Exception {
        Key holder = held();
        List<BackgroundWait> waits = new ArrayList<>(List.of(first()));
        for (int i = 1; i < MANY; i++) {
            waits.add(next());
        }
        assertThat(keys.waiting()).hasSize(1);
        assertThat(home.release(holder)).isTrue();
        waits.get(0).grant();
        keys.resetCommands();

        for (int i = 0; i < MANY; i++) {
            waits.get(i).grant();
            assertThat(waits.subList(i + 1, MANY)).noneMatch(wait -> wait.call().isDone());
            assertThat(home.release(waits.get(i).key())).isTrue();
        }

        assertThat(keys.commands()).containsEntry("evalsha", (long) MANY).doesNotContainKey("publish");
        assertNothingIsLeft();
    }

    @Test
    void givenManyAtHomeWithoutThreads_whenReleasedOneByOne_thenInOrderByOneScriptEach() throws Exception {
        Key holder = held();
        List<Request> requests = new ArrayList<>();
        List<CompletableFuture<Response>> waits = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            Request request = request();
            requests.add(request);
            waits.add(home.waitAsync(request, LONG_WAIT, new CompletableFuture<>(), steps));
            if (i == 0) {
                awaitListening(request.key());
            }
        }
        assertThat(keys.waiting()).hasSize(1);
        assertThat(home.release(holder)).isTrue();
        result(waits.get(0));
        keys.resetCommands();

        for (int i = 0; i < MANY; i++) {
            granted(result(waits.get(i)));
            assertThat(waits.subList(i + 1, MANY)).noneMatch(CompletableFuture::isDone);
            assertThat(home.release(requests.get(i).key())).isTrue();
        }

        assertThat(keys.commands()).containsEntry("evalsha", (long) MANY).doesNotContainKey("publish");
        assertNothingIsLeft();
    }

    private static Response result(CompletableFuture<Response> wait) throws Exception {
        return wait.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void givenWaitersElsewhereInBetween_whenReleasedOneByOne_thenTheOrderOfArrival() throws Exception {
        try (StoreWithHome other = new StoreWithHome(server.dsn())) {
            Key holder = held();
            // Each release asks for the arrival of the next at home anew, which only makes it later: the last one is
            // last anyway.
            List<StoreWithHome> stores = List.of(home, other, home, other, home);
            List<BackgroundWait> waits = new ArrayList<>();
            for (StoreWithHome each : stores) {
                waits.add(waits.size() < 2 ? first(each) : BackgroundWait.in(each, request()));
                awaitLater();
            }
            assertThat(keys.waiting()).hasSize(2);
            assertThat(home.release(holder)).isTrue();

            for (int i = 0; i < waits.size(); i++) {
                waits.get(i).grant();
                assertThat(waits.subList(i + 1, waits.size()))
                        .noneMatch(wait -> wait.call().isDone());
                assertThat(stores.get(i).release(waits.get(i).key())).isTrue();
            }
            assertNothingIsLeft();
        }
    }

    /** What it was granted meanwhile is given back, and whoever is behind it does not wait for that hold to be over. */
    @Test
    void givenTakenAlong_whenInterruptedBeforeTheReply_thenItLeavesNothingAndTheNextIsGrantedIt() throws Exception {
        Key holder = held();
        BackgroundWait first = first();
        CompletableFuture<Thread> waiter = new CompletableFuture<>();
        BackgroundWait atHome = BackgroundWait.in(
                (request, maxWait, withdrawn) -> {
                    waiter.complete(Thread.currentThread());
                    return home.waitAndSave(request, maxWait, withdrawn);
                },
                request());
        assertThat(home.release(holder)).isTrue();
        first.grant();
        BackgroundWait behind = next();
        proxy.silence();
        BackgroundCall<Boolean> release = BackgroundCall.start(() -> home.release(first.key()));
        release.awaitWaiting();

        atHome.call().interrupt();
        // A grant that comes before the waiter has noticed is taken.
        Awaitility.await().until(() -> !waiter.join().isInterrupted());
        proxy.heal();

        assertThatThrownBy(atHome.call()::result).isInstanceOf(InterruptedException.class);
        assertThat(release.result()).isTrue();
        behind.grant();
        assertThat(home.release(behind.key())).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void givenTakenAlongWithoutAThread_whenWithdrawnBeforeTheReply_thenItLeavesNothing() throws Exception {
        Key holder = held();
        BackgroundWait first = first();
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        CompletableFuture<Response> atHome = home.waitAsync(request(), LONG_WAIT, withdrawn, steps);
        assertThat(home.release(holder)).isTrue();
        first.grant();
        proxy.silence();
        BackgroundCall<Boolean> release = BackgroundCall.start(() -> home.release(first.key()));
        release.awaitWaiting();

        withdrawn.complete(null);
        proxy.heal();

        assertThat(result(atHome)).isInstanceOf(Response.Conflicted.class);
        assertThat(release.result()).isTrue();
        assertNothingIsLeft();
    }

    /** Nobody knows whether the release has come to the server. It has not. */
    @Test
    void givenTakenAlong_whenTheRequestIsLost_thenItIsInTheQueue() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        CompletableFuture<Void> lost = proxy.loseRequest(STATE);

        assertThatThrownBy(() -> home.release(two.get(0).key())).isInstanceOf(LockStorageException.class);

        assertThat(lost).isCompleted();
        awaitListening(two.get(1).key());
        assertThat(home.release(two.get(0).key())).isTrue();
        two.get(1).grant();
        assertThat(home.release(two.get(1).key())).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void givenTakenAlong_whenTheReplyIsLost_thenItFindsWhatItWasGranted() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        CompletableFuture<Void> lost = proxy.loseReplyTo(STATE);

        assertThatThrownBy(() -> home.release(two.get(0).key())).isInstanceOf(LockStorageException.class);

        assertThat(lost).isCompleted();
        two.get(1).grant();
        assertThat(home.release(two.get(1).key())).isTrue();
        assertNothingIsLeft();
    }

    /** It cannot leave before it is known what the release has made of it. */
    @Test
    void givenTakenAlong_whenTheReplyIsLostAndItGivesUp_thenItLeavesNothing() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        proxy.silence();
        BackgroundCall<Boolean> release =
                BackgroundCall.start(() -> home.release(two.get(0).key()));
        release.awaitWaiting();
        two.get(1).withdrawn().complete(null);
        proxy.cut();
        proxy.heal();

        try {
            // What the driver had not written before the cut, it writes for the first time now.
            assertThat(release.result()).isTrue();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }
        assertThat(two.get(1).call().result()).isInstanceOf(Response.Conflicted.class);
        assertThat(keys.waiting()).isEmpty();
        assertThat(keys.held()).noneMatch(held -> held.contains(two.get(1).key().token()));
    }

    @Test
    void givenAtHome_whenTheServerForgetsEverything_thenTheReleaseHasItAsk() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        server.call("FLUSHALL");

        assertThat(home.release(two.get(0).key())).isFalse();

        two.get(1).grant();
        assertThat(home.release(two.get(1).key())).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void givenAtHome_whenTheHoldIsEndedByForce_thenTheReleaseHasItAsk() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        long token = two.get(0).grant().fencingToken().orElseThrow();
        assertThat(store.forceRelease(RESOURCE, token)).isTrue();

        assertThat(home.release(two.get(0).key())).isFalse();

        two.get(1).grant();
        assertThat(home.release(two.get(1).key())).isTrue();
        assertNothingIsLeft();
    }

    /** A promotion asks at once, and comes before all who wait for the lock anew. */
    @Test
    void givenAtHome_whenAReaderOfTheSameStoreWaitsForItsPromotion_thenThatIsFirst() throws Exception {
        Key reader = Key.of(RESOURCE);
        Key promoter = Key.of(RESOURCE);
        granted(home.save(shared(reader, LONG_TTL)));
        Key shared = holding(promoter, home.save(shared(promoter, LONG_TTL)));
        BackgroundWait first = first();
        BackgroundWait atHome = next();
        BackgroundWait promotion = BackgroundWait.in(home, exclusive(shared, LONG_TTL));
        awaitListening(promoter);

        assertThat(home.release(reader)).isTrue();

        promotion.grant();
        assertThat(List.of(first, atHome)).noneMatch(wait -> wait.call().isDone());
        assertThat(home.release(promoter)).isTrue();
        first.grant();
        assertThat(home.release(first.key())).isTrue();
        atHome.grant();
        assertThat(home.release(atHome.key())).isTrue();
        assertNothingIsLeft();
    }

    /** Those who have come since stay behind it. */
    @Test
    void givenAReaderOfTheSameStoreCameLater_whenReleased_thenTheOneAtHomeIsFirst() throws Exception {
        List<BackgroundWait> two = heldInTurnAndOneAtHome();
        Key readerKey = Key.of(RESOURCE);
        awaitLater();
        BackgroundWait reader = BackgroundWait.in(home, shared(readerKey, LONG_TTL));
        awaitListening(readerKey);

        assertThat(home.release(two.get(0).key())).isTrue();

        two.get(1).grant();
        assertThat(reader.call().isDone()).isFalse();
        assertThat(home.release(two.get(1).key())).isTrue();
        reader.grant();
        assertThat(home.release(readerKey)).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void givenTakenAlong_whenTheStoreIsClosed_thenItFailsAndLeavesNothing() throws Exception {
        StoreWithHome closing = new StoreWithHome("redis://" + proxy.address());
        Key holder = Key.of(RESOURCE);
        granted(closing.save(exclusive(holder, LONG_TTL)));
        BackgroundWait first = first(closing);
        BackgroundWait atHome = BackgroundWait.in(closing, request());
        assertThat(closing.release(holder)).isTrue();
        first.grant();
        proxy.silence();
        BackgroundCall<Boolean> release = BackgroundCall.start(() -> closing.release(first.key()));
        release.awaitWaiting();

        BackgroundCall<Boolean> close = BackgroundCall.start(() -> {
            closing.close();
            return true;
        });
        close.awaitWaiting();
        // Closing waits a second for the answers that are due.
        proxy.heal();

        assertThat(close.result()).isTrue();
        assertThat(release.result()).isTrue();
        try {
            // The reply may have been there first.
            granted(atHome.call().result());
            assertThat(store.delete(atHome.key())).isTrue();
        } catch (LockStorageException e) {
            assertThat(e).hasMessageContaining("closed");
        }
        assertNothingIsLeft();
    }
}

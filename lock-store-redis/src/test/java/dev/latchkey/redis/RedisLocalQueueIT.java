package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
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
    private static final int MANY = 20;

    private RedisStore elsewhere;
    private long longestNanos;

    @BeforeEach
    void openAnother() {
        elsewhere = open(PatientDsn.redis(server.dsn()));
    }

    @AfterEach
    void closeAnother() {
        elsewhere.close();
    }

    private static Request request() {
        return exclusive(Key.of(RESOURCE), LONG_TTL);
    }

    /** Returns the first waiter of a store, in the queue on the server and listening. */
    private BackgroundWait first(RedisStore of) {
        return queued(of, request());
    }

    /**
     * Returns once it is in the queue on the server, and the time that its arrival may be wrong by has passed, for whoever waits
     * elsewhere next: the longest round trip, that of the first request on a busy machine.
     */
    private BackgroundWait queued(RedisStore of, Request request) {
        long start = System.nanoTime();
        BackgroundWait wait = listening(BackgroundWait.in(of, request));
        longestNanos = Math.max(longestNanos, System.nanoTime() - start);
        awaitPassed(Duration.ofNanos(longestNanos));
        return wait;
    }

    /** Returns once it is in the queue on the server. */
    private BackgroundWait listening(BackgroundWait wait) {
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
        List<BackgroundWait> inOrder = List.of(
                first(store),
                queued(store, request()),
                first(elsewhere),
                queued(store, request()),
                queued(elsewhere, request()),
                BackgroundWait.in(store, request()));
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

    /** The first answers come late, so the store takes it for later than it is on the server, until the second waiter is answered. */
    @Test
    void givenAnswersGetFaster_whenTwoLeaveHomeOneAfterTheOther_thenTheOrderOfArrival() throws Exception {
        Duration late = TimeLimits.ttl(Duration.ofMillis(300));
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore slow = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Key holder = Key.of(RESOURCE);
            granted(slow.save(exclusive(holder, LONG_TTL)));
            haveSubscribed(slow);
            proxy.delay(late);
            BackgroundWait first = first(slow);
            proxy.delay(Duration.ZERO);
            awaitPassed(late);
            BackgroundWait second = listening(BackgroundWait.in(slow, request()));

            // At once: the time of the second is still ahead of that of the server.
            BackgroundWait third = listening(BackgroundWait.in(slow, request()));

            List<String> inOrder = keys.waiting().stream()
                    .filter(waiter -> waiter.startsWith(STATE))
                    .toList();
            assertThat(inOrder.get(2)).contains(third.key().token());
            assertThat(slow.delete(holder)).isTrue();
            first.grant();
            assertThat(slow.delete(first.key())).isTrue();
            second.grant();
            assertThat(third.call().isDone()).isFalse();
            assertThat(slow.delete(second.key())).isTrue();
            third.grant();
        }
    }

    /** Only what waits for that resource may have missed its grant. */
    @Test
    void givenOthersWaitElsewhere_whenAHoldGrantedInTurnIsReleasedThatWasForced_thenTheyAreNotAsked() throws Exception {
        keys.subscribe(new LockFactory(elsewhere).createLock("held for a while", LONG_TTL));
        Key holder = held();
        BackgroundWait first = first(store);
        assertThat(store.delete(holder)).isTrue();
        long token = first.grant().fencingToken().orElseThrow();
        long start = System.nanoTime();
        List<BackgroundWait> others = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            String name = RESOURCE + i;
            granted(elsewhere.save(exclusive(Key.of(name), LONG_TTL)));
            others.add(BackgroundWait.in(store, exclusive(Key.of(name), LONG_TTL)));
        }
        Awaitility.await().until(() -> keys.listening().size() == MANY);
        assertThat(elsewhere.forceRelease(RESOURCE, token)).isTrue();
        keys.resetCommands();

        assertThat(store.delete(first.key())).isFalse();

        BackgroundWait.in(store, request()).grant();
        assertThat(keys.commands().get("evalsha")).isLessThan(MANY * (1 + Looks.since(start)));
        assertThat(others).noneMatch(wait -> wait.call().isDone());
    }

    /** Else the first waiter would ask a second time. */
    private void haveSubscribed(RedisStore waiting) {
        granted(waiting.save(exclusive(Key.of("other"), LONG_TTL)));
        queued(waiting, exclusive(Key.of("other"), LONG_TTL));
    }

    private static void awaitPassed(Duration time) {
        long now = System.nanoTime();
        Awaitility.await().until(() -> System.nanoTime() - now > time.toNanos());
    }

    @Test
    void givenAReaderElsewhereCameLater_whenReleased_thenTheReaderIsLater() throws Exception {
        Key holder = held();
        BackgroundWait first = first(store);
        BackgroundWait second = queued(store, request());
        BackgroundWait reader = BackgroundWait.in(elsewhere, shared(Key.of(RESOURCE), LONG_TTL));
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
        BackgroundWait first = first(store);
        BackgroundWait second = BackgroundWait.in(store, request());

        Awaitility.await().until(() -> keys.waiting().size() == 2);

        assertThat(keys.waiting().get(0)).contains(first.key().token());
        assertThat(keys.waiting().get(1)).contains(second.key().token());
        assertThat(store.delete(holder)).isTrue();
    }

    @Test
    void givenSomebodyAtHome_whenTheFirstGivesUp_thenItTakesThatPlace() throws Exception {
        Key holder = held();
        BackgroundWait first = first(store);
        BackgroundWait second = BackgroundWait.in(store, request());

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
        BackgroundWait first = first(store);
        BackgroundWait withdrawn = BackgroundWait.in(store, request());
        BackgroundWait interrupted = BackgroundWait.in(store, request());

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
        keys.subscribe(locks.createLock("held for a while", LONG_TTL));
        held();
        long start = System.nanoTime();
        BackgroundWait unused = first(store);
        keys.resetCommands();

        Response response = store.waitAndSave(request(), Duration.ofMillis(1), new CompletableFuture<>());

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(keys.commands().get("evalsha")).isBetween(2L, 2 + Looks.since(start));
        assertThat(unused.call().isDone()).isFalse();
    }

    @Test
    void givenAtHome_whenTheStoreIsClosed_thenItFailsAndLeavesNothing() {
        RedisStore closing = open(PatientDsn.redis(server.dsn()));
        Key holder = held();
        BackgroundWait first = first(closing);
        BackgroundWait atHome = BackgroundWait.in(closing, request());

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
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Key holder = Key.of(RESOURCE);
            granted(far.save(exclusive(holder, LONG_TTL)));
            BackgroundWait first = first(far);
            assertThat(far.delete(holder)).isTrue();
            first.grant();
            BackgroundWait second = first(far);
            BackgroundWait third = BackgroundWait.in(far, request());
            assertThat(far.delete(first.key())).isTrue();
            second.grant();
            // Not to the third, should it ask by itself just now.
            CompletableFuture<Void> lost = proxy.loseReplyTo(requestOf(Script.RELEASE));

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
        BackgroundWait first = first(store);
        assertThat(store.delete(holder)).isTrue();
        first.grant();
        BackgroundWait second = first(store);
        assertThat(store.delete(first.key())).isTrue();
        BackgroundWait third = BackgroundWait.in(store, request());
        long token = second.grant().fencingToken().orElseThrow();
        assertThat(elsewhere.forceRelease(RESOURCE, token)).isTrue();

        assertThat(store.delete(second.key())).isFalse();

        third.grant();
        assertThat(store.delete(third.key())).isTrue();
    }
}

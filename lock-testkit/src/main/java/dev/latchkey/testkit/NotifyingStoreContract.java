package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Who waits is told when to ask again: for a {@link NotifyingStore}, on a backend that does tell. A hint may come without
 * need, so that no test says who is not woken.
 */
@ContractFor(NotifyingStore.class)
public interface NotifyingStoreContract extends StoreContract {

    @Test
    default void givenNotifyingStore_whenAskedForTheCapability_thenItHasIt(Fixture fixture) {
        assertThat(fixture.store().capability(NotifyingStore.class)).isPresent();
    }

    @Test
    default void givenWatched_whenTheHolderReleases_thenWoken(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (ReleaseSubscription watch = watching(fixture)) {
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);

            assertThat(holder.release()).isTrue();

            awaitWoken(next);
        }
    }

    /** A waiter that is told when to ask polls only every 15 to 30 s: without its wake-up it would be late. */
    @Test
    default void givenAWaiterThatPollsNoMore_whenTheHolderReleases_thenItAcquiresLongBeforeItWouldPoll(Fixture fixture)
            throws Exception {
        FaultyStore counting = new FaultyStore(fixture.store());
        LockFactory locks = new LockFactory(counting);
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Boolean> waiting = fixture.start(
                () -> locks.createLock(fixture.resource(), LONG_TTL).tryAcquire(WaitingContract.LONG_WAIT));
        awaitPollsNoMore(counting);

        assertThat(holder.release()).isTrue();

        assertThat(fixture.woken(waiting)).isTrue();
        locks.close();
    }

    /** Waits until nothing is asked for longer than the longest pause of a waiter that is not told. */
    private static void awaitPollsNoMore(FaultyStore store) {
        AtomicInteger polls = new AtomicInteger();
        Awaitility.await()
                .during(Duration.ofMillis(1_100))
                .atMost(TimeLimits.LIMIT)
                .until(() -> polls.getAndSet(store.calls().size()) == polls.get() && polls.get() > 0);
    }

    @Test
    default void givenWokenOnce_whenTheNextHolderReleases_thenWokenAgain(Fixture fixture) {
        Lock first = fixture.lock();
        assertThat(first.tryAcquire()).isTrue();
        try (ReleaseSubscription watch = watching(fixture)) {
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);
            assertThat(first.release()).isTrue();
            awaitWoken(next);
            Lock second = fixture.lock();
            assertThat(second.tryAcquire()).isTrue();
            CompletionStage<?> afterNext = nextAfterARefusal(fixture, watch);

            assertThat(second.release()).isTrue();

            awaitWoken(afterNext);
        }
    }

    @Test
    default void givenWatchedTwice_whenTheHolderReleases_thenBothAreWoken(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (ReleaseSubscription watch = watching(fixture);
                ReleaseSubscription other = watching(fixture)) {
            CompletionStage<?> otherNext = other.next();
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);

            assertThat(holder.release()).isTrue();

            awaitWoken(next);
            awaitWoken(otherNext);
        }
    }

    @Test
    default void givenOneWatchWasClosed_whenTheHolderReleases_thenTheOtherIsWoken(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (ReleaseSubscription watch = watching(fixture)) {
            ReleaseSubscription closed = watching(fixture);
            closed.close();
            closed.close();
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);

            assertThat(holder.release()).isTrue();

            awaitWoken(next);
        }
    }

    @Test
    default void givenWatched_whenTheStoreIsClosed_thenItSaysThatItIsNotTold(Fixture fixture) throws Exception {
        PersistingStore store = fixture.openSeparateStore();
        NotifyingStore notifying = store.capability(NotifyingStore.class).orElseThrow();
        // What the store knows of its backend it may have to ask for first.
        assertThat(store.find(fixture.key())).isEmpty();
        ReleaseSubscription watch = notifying.watch(fixture.resource());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(watch::isWatching);

        store.close();

        assertThat(watch.isWatching()).as("after the store was closed").isFalse();
        watch.close();
    }

    /** Begins to watch what is held, and returns once the store listens. */
    static ReleaseSubscription watching(Fixture fixture) {
        ReleaseSubscription watch = fixture.store(NotifyingStore.class).watch(fixture.resource());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(watch::isWatching);
        return watch;
    }

    /** The next hint for one who has asked since, as whoever waits does, and was refused. */
    static CompletionStage<?> nextAfterARefusal(Fixture fixture, ReleaseSubscription watch) {
        CompletionStage<?> next = watch.next();
        assertThat(fixture.store().save(exclusive(fixture.key()).with(RetryIntent.AGAIN)))
                .isInstanceOf(Response.Conflicted.class);
        return next;
    }

    /** Waits for a hint. */
    static void awaitWoken(CompletionStage<?> next) {
        try {
            Object unused = TimeLimits.get(next.toCompletableFuture(), TimeLimits.untilWoken());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a hint", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("no hint", e);
        }
    }
}

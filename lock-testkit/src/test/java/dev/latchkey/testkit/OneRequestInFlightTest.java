package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests for one hold come one after the other, and what one that was not answered may still do is never forgotten. */
class OneRequestInFlightTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofMillis(600));

    /** Not over before the test has done what it does while a renewal is under way. */
    private static final Duration RENEWED = Duration.ofSeconds(5);

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();
    private final Lock lock = locks.createLock("x", TTL);

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    /** A4: the first answer must not raise what the second, which was not answered, had lowered. */
    @Test
    void givenARefreshInFlight_whenRefreshedForLess_thenItWaitsAndNoMoreIsBelievedAgain() throws Exception {
        assertThat(lock.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedAfter(pause), Fault.replyLost());
        BackgroundCall<Lock> first = BackgroundCall.start(lock::refresh);
        pause.awaitReached();
        BackgroundCall<Lock> second = BackgroundCall.start(() -> lock.refresh(Duration.ofSeconds(5)));
        second.awaitWaiting();

        assertThat(store.operations()).containsExactly(SAVE, REFRESH);
        pause.end();
        first.result();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(second::result);
        assertThat(remaining()).isLessThan(Duration.ofSeconds(5));
        lock.refresh();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(remaining()).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void givenAShorterLeaseIsAnswered_whenRefreshedAgain_thenTheWholeTtlIsBelieved() {
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh(Duration.ofSeconds(5)).refresh();

        assertThat(remaining()).isGreaterThan(Duration.ofSeconds(20));
        assertThat(changes()).containsExactly(LeaseChange.SET, LeaseChange.EXTEND);
    }

    @Test
    void givenALongerLease_whenRefreshed_thenExtendedAndOnlyTheOwnTtlAfterItIsSet() {
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh().refresh(Duration.ofMinutes(10)).refresh().refresh();

        assertThat(changes())
                .containsExactly(LeaseChange.EXTEND, LeaseChange.EXTEND, LeaseChange.SET, LeaseChange.EXTEND);
    }

    @Test
    void givenNothingWasSent_whenRefreshedAgain_thenTheWholeTtlIsBelieved() {
        assertThat(lock.tryAcquire()).isTrue();
        store.next(REFRESH, notSent());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.refresh(Duration.ofSeconds(5)));

        lock.refresh();

        assertThat(remaining()).isGreaterThan(Duration.ofSeconds(20));
    }

    /** A5: what is handed over is not touched by a request of the giver. */
    @Test
    @Tag("slow")
    void givenARenewalInFlight_whenHandedOver_thenAfterItsAnswer() throws Exception {
        Lock renewed = locks.lock("x").ttl(RENEWED).autoRefresh().create();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedBefore(pause));
        assertThat(renewed.tryAcquire()).isTrue();
        pause.awaitReached();
        BackgroundCall<Key> transferKey = BackgroundCall.start(renewed::transferKey);
        transferKey.awaitWaiting();
        assertThat(transferKey.isDone()).isFalse();

        pause.end();

        Lock receiver = locks.createLock(transferKey.result(), TTL);
        receiver.refresh();
        // Longer than from one renewal to the next.
        await().during(RENEWED.dividedBy(2)).until(() -> refreshes() == 2);
    }

    /** A5: a min hold is neither renewed nor extended. */
    @Test
    void givenARenewalInFlight_whenReleasedWithAMinHold_thenAfterItsAnswer() throws Exception {
        Lock renewed = locks.lock("x").ttl(RENEWED).minHold(TTL).autoRefresh().create();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedBefore(pause));
        assertThat(renewed.tryAcquire()).isTrue();
        pause.awaitReached();
        BackgroundCall<Boolean> release = BackgroundCall.start(renewed::release);
        release.awaitWaiting();
        assertThat(refreshes()).isEqualTo(1);

        pause.end();

        assertThat(release.result()).isTrue();
        assertThat(changes()).containsExactly(LeaseChange.EXTEND, LeaseChange.SET);
    }

    /** A5: a late request of an earlier hold finds nothing. */
    @Test
    void givenARequestInDoubtOrACopyOfTheKey_whenReleased_thenTheTokenIsNotUsedAgain() {
        assertThat(lock.tryAcquire()).isTrue();
        store.next(REFRESH, Fault.replyLost());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::refresh);
        Key first = store.calls().get(0).key();
        assertThat(lock.release()).isTrue();

        assertThat(lock.tryAcquire()).isTrue();
        Key copied = lock.key();
        assertThat(copied).isNotEqualTo(first);
        assertThat(lock.release()).isTrue();

        assertThat(lock.key()).isNotEqualTo(copied);
    }

    @Test
    void givenAShorterLeaseInDoubt_whenHandedOver_thenRefusedForTheReceiverWouldBeCutShort() {
        assertThat(lock.tryAcquire()).isTrue();
        store.next(REFRESH, Fault.replyLost());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> lock.refresh(Duration.ofSeconds(5)));

        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(lock::transferKey)
                .withMessageContaining("release it");
        assertThat(lock.release()).isTrue();
    }

    /** A demotion that was not answered may come after a promotion. */
    @Test
    void givenADemotionInDoubt_whenPromoted_thenRefusedUntilReleased() {
        assertThat(lock.tryAcquire()).isTrue();
        store.next(SAVE, Fault.replyLost());
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::tryAcquireShared);
        assertThat(lock.tryAcquireShared()).isTrue();

        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(lock::tryAcquire)
                .withMessageContaining("may still demote this hold");

        assertThat(lock.key().held().map(Key.Held::mode)).contains(LockMode.SHARED);
        assertThat(lock.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
    }

    /** A6: who listens is told at the end that is believed, not at the one before. */
    @Test
    void givenAListener_whenAShorterLeaseIsNotAnswered_thenToldAtItsEnd() {
        Lock heard = locks.lock("x").ttl(TTL).onLost(losses::add).create();
        assertThat(heard.tryAcquire()).isTrue();
        store.next(REFRESH, Fault.unreachable());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> heard.refresh(SHORT));

        await().atMost(TTL.dividedBy(2)).until(() -> !losses.isEmpty());
        assertThat(losses).containsExactly(LossReason.EXPIRED);
    }

    /** B18: a short lease of a renewed hold is renewed in time. */
    @Test
    void givenAutoRefresh_whenRefreshedForLessThanAThirdOfTheTtl_thenRenewedInTime() {
        Duration ttl = Duration.ofMinutes(2);
        Lock renewed =
                locks.lock("x").ttl(ttl).autoRefresh().onLost(losses::add).create();
        assertThat(renewed.tryAcquire()).isTrue();

        renewed.refresh(Duration.ofSeconds(12));

        await().atMost(ttl.dividedBy(3))
                .until(() -> renewed.remainingLifetime().orElseThrow().compareTo(ttl.dividedBy(2)) > 0);
        assertThat(losses).isEmpty();
    }

    /** B23: who pauses here until it is told, or until the lease it knows of ends, learns of a shorter one. */
    @Test
    void givenAWaiterThatPauses_whenTheLeaseIsShortened_thenItComesInTime() throws Exception {
        try (LockFactory silent = new LockFactory(new Silent(new PollingStore(memory)))) {
            Lock holder = silent.createLock("y", Duration.ofHours(1));
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiter = BackgroundCall.start(silent.createLock("y", TTL)::acquire);
            await().until(() -> Silent.WATCHED.get() > 0);
            waiter.awaitWaiting();

            Leases.shorten(holder, SHORT);

            // Rather than in an hour.
            assertThat(waiter.result().isAcquired()).isTrue();
        }
    }

    /** Says that it tells when to ask, and tells nothing. */
    private record Silent(PollingStore store) implements NotifyingStore {

        static final AtomicInteger WATCHED = new AtomicInteger();

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            return type == NotifyingStore.class ? Optional.of(type.cast(this)) : store.capability(type);
        }

        @Override
        public ReleaseSubscription watch(String resource) {
            return new ReleaseSubscription() {
                @Override
                public CompletionStage<?> next() {
                    return new CompletableFuture<Void>();
                }

                @Override
                public boolean isWatching() {
                    WATCHED.incrementAndGet();
                    return true;
                }

                @Override
                public void close() {}
            };
        }
    }

    /** B25: nothing was sent, so there is nothing to give back. */
    @Test
    void givenNothingWasSent_whenTried_thenNothingIsGivenBack() {
        Key before = lock.key();
        store.next(SAVE, notSent());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::tryAcquire);

        assertThat(store.operations()).containsExactly(SAVE);
        assertThat(lock.key()).isEqualTo(before);
    }

    /** B27: the first answer of a store may take longer than the TTL, for it has to connect. */
    @Test
    void givenTheFirstGrantComesTooLate_whenTried_thenAskedOnceMore() {
        store.next(SAVE, Fault.late(TTL.plusSeconds(1)));

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(store.operations()).containsExactly(SAVE, DELETE, SAVE);
    }

    /** C2: two threads may find out at once that what was received is held. */
    @Test
    void givenAReceivedKey_whenTwoThreadsRefresh_thenBothFindItHeld() throws Exception {
        assertThat(lock.tryAcquire()).isTrue();
        Lock adopted = locks.createLock(lock.transferKey(), TTL);
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedAfter(pause));
        BackgroundCall<Lock> first = BackgroundCall.start(adopted::refresh);
        pause.awaitReached();
        BackgroundCall<Lock> second = BackgroundCall.start(adopted::refresh);
        second.awaitWaiting();
        assertThat(adopted.isAcquired()).isTrue();

        pause.end();

        assertThat(first.result()).isSameAs(adopted);
        assertThat(second.result()).isSameAs(adopted);
    }

    /** C22: a release by another thread of its own is no loss. */
    @Test
    void givenARefreshInFlight_whenReleased_thenAfterItsAnswerAndNothingIsLost() throws Exception {
        lock.onLost(losses::add);
        assertThat(lock.tryAcquire()).isTrue();
        Pause pause = new Pause();
        store.next(REFRESH, Fault.pausedBefore(pause));
        BackgroundCall<Lock> refresh = BackgroundCall.start(lock::refresh);
        pause.awaitReached();
        BackgroundCall<Boolean> release = BackgroundCall.start(lock::release);
        release.awaitWaiting();

        pause.end();

        assertThat(refresh.result()).isSameAs(lock);
        assertThat(release.result()).isTrue();
        assertThatIllegalStateException().isThrownBy(lock::refresh);
        assertThat(losses).isEmpty();
    }

    @Test
    void givenAPromoterWaits_whenRefreshedByAnotherThread_thenItNeedNotWait() throws Exception {
        Lock reader = locks.createLock("x", TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        assertThat(lock.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> promoter = BackgroundCall.start(lock::acquire);
        promoter.awaitWaiting();

        lock.refresh();

        assertThat(promoter.isDone()).isFalse();
        assertThat(reader.release()).isTrue();
        assertThat(promoter.result().fencingToken()).isPresent();
    }

    private static Fault notSent() {
        return Fault.failing(LockStorageException.Failure.NOT_SENT);
    }

    private long refreshes() {
        return store.operations().stream().filter(REFRESH::equals).count();
    }

    private List<LeaseChange> changes() {
        return store.calls().stream()
                .filter(call -> call.operation() == REFRESH)
                .map(call -> call.request().orElseThrow().leaseChange())
                .toList();
    }

    private Duration remaining() {
        return lock.remainingLifetime().orElseThrow();
    }
}

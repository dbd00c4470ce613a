package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What keeps a hold, what ends it, and who is told. */
class StayingTheOwnerTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofMillis(400));

    /** Renewed in time also where the renewer does not run for two seconds. */
    private static final Duration RENEWED = TimeLimits.ttl(Duration.ofSeconds(5));

    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore store = new FaultyStore(memory);
    private final LockFactory locks = new LockFactory(store);
    private final BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        store.heal();
        locks.close();
    }

    private static LossReason next(BlockingQueue<LossReason> losses) throws InterruptedException {
        return Optional.ofNullable(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .orElseThrow(() -> new AssertionError("no loss"));
    }

    @Test
    @Tag("slow")
    void givenWarning_whenNobodyRefreshes_thenWarnedOnceBeforeTheLoss() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        Lock lock = locks.lock("x")
                .ttl(Duration.ofSeconds(10))
                // The alarm may be late: it warns of nothing that is over.
                .warnBefore(Duration.ofSeconds(9), left -> told.add(left.isNegative() ? "late" : "warned"))
                .onLost(reason -> told.add("lost"))
                .create();

        assertThat(lock.tryAcquire()).isTrue();

        await().untilAsserted(() -> assertThat(told).endsWith("lost"));
        assertThat(told).containsExactly("warned", "lost");
    }

    @Test
    @Tag("slow")
    void givenWarning_whenRefreshedInTime_thenNotWarned() {
        AtomicInteger warnings = new AtomicInteger();
        Lock lock = locks.lock("x")
                .ttl(RENEWED)
                .autoRefresh()
                .warnBefore(Duration.ofMillis(500), left -> warnings.incrementAndGet())
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        // The third comes after the warning that the first lease would have brought.
        await().until(() -> refreshes() >= 3);

        assertThat(warnings).hasValue(0);
    }

    @Test
    void givenWarningThatWouldComeAlways_whenMade_thenRefused() {
        LockBuilder builder = locks.lock("x").ttl(TTL).warnBefore(Duration.ofSeconds(25), left -> {});
        assertThat(builder.create().tryAcquire()).isTrue();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.autoRefresh().create())
                .withMessageContaining("two thirds");
        assertThatIllegalArgumentException().isThrownBy(() -> locks.lock("x").warnBefore(Duration.ZERO, left -> {}));
    }

    @Test
    void givenInterruptOnLoss_whenTheLeaseEnds_thenTheWorkerIsInterruptedAndKnowsBeforeARival() throws Exception {
        Lock lock = locks.lock("x").ttl(SHORT).interruptOnLoss().create();
        CountDownLatch never = new CountDownLatch(1);
        BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
            assertThat(lock.tryAcquire()).isTrue();
            assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
            return lock.isExpired();
        });

        locks.createLock("y", TTL).acquire();

        assertThat(worker.result()).isTrue();
    }

    /** Neither a listener nor what writes the log may delay the end of other holds. */
    @Test
    void givenTheLogIsStuck_whenAnotherLeaseEnds_thenItsWorkerIsInterruptedAllTheSame() throws Exception {
        PrintStream before = System.err;
        Pause stuck = new Pause();
        System.setErr(new PrintStream(before, true, StandardCharsets.UTF_8) {
            @Override
            public void println(@Nullable String line) {
                super.println(line);
                if (line != null && line.contains("lock.lost resource=first")) {
                    stuck.pass();
                }
            }
        });
        try {
            Lock first = locks.lock("first").ttl(SHORT).onLost(losses::add).create();
            assertThat(first.tryAcquire()).isTrue();
            stuck.awaitReached();
            Lock lock = locks.lock("x").ttl(SHORT).interruptOnLoss().create();
            CountDownLatch never = new CountDownLatch(1);
            BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
                assertThat(lock.tryAcquire()).isTrue();
                assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
                return lock.isExpired();
            });

            assertThat(worker.result()).isTrue();
        } finally {
            stuck.end();
            System.setErr(before);
        }
    }

    @Test
    void givenInterruptOnLoss_whenTheSessionEnds_thenTheWorkerIsInterrupted() throws Exception {
        Lock lock =
                locks.lock("x").ttl(TTL).interruptOnLoss().onLost(losses::add).create();
        CountDownLatch never = new CountDownLatch(1);
        BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
            assertThat(lock.tryAcquire()).isTrue();
            assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
            return lock.isExpired();
        });
        await().until(() -> lock.key().held().isPresent());

        assertThat(store.lose(lock.key(), LossReason.SESSION_LOST)).isTrue();

        assertThat(worker.result()).isTrue();
        assertThat(next(losses)).isEqualTo(LossReason.SESSION_LOST);
    }

    @Test
    void givenInterruptOnLoss_whenReleasedOrToldByItsOwnCall_thenNotInterrupted() {
        Lock lock = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        for (int i = 0; i < 20; i++) {
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(memory.delete(lock.key())).isTrue();

        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::refresh);

        assertThat(Thread.interrupted()).isFalse();
    }

    /** A call of another Lock tells nothing of it. */
    @Test
    void givenInterruptOnLoss_whenTheSessionEndsInACallOfAnotherLock_thenTheWorkerIsInterrupted() throws Exception {
        Lock lock = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        CountDownLatch never = new CountDownLatch(1);
        BackgroundCall<Boolean> worker = BackgroundCall.start(() -> {
            assertThat(lock.tryAcquire()).isTrue();
            store.next(SAVE, Fault.meanwhile(() -> store.lose(lock.key(), LossReason.SESSION_LOST)));
            assertThat(locks.createLock("y", TTL).tryAcquire()).isTrue();
            assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
            return lock.isExpired();
        });

        assertThat(worker.result()).isTrue();
    }

    @Test
    void givenInterruptOnLoss_whenTheSessionEndsInACallOfItsOwn_thenToldByItAndNotInterrupted() {
        Lock lock = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        Fault ends = Fault.meanwhile(() -> store.lose(lock.key(), LossReason.SESSION_LOST));
        store.next(FIND, ends).next(SAVE, Fault.none(), ends);
        assertThat(lock.tryAcquire()).isTrue();

        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::tryAcquire);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.isAcquired()).isFalse();

        assertThat(lock.release()).isFalse();
        assertThat(Thread.interrupted()).isFalse();
    }

    /** A listener does not tell the worker, who is not interrupted either: the refusal would read as "still shared". */
    @Test
    void givenInterruptOnLossAndAListener_whenTheSessionEndsInARefusedPromotion_thenThrownOnce() throws Exception {
        Lock lock =
                locks.lock("x").ttl(TTL).interruptOnLoss().onLost(losses::add).create();
        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(locks.createLock("x", TTL).tryAcquireShared()).isTrue();
        store.next(SAVE, Fault.meanwhile(() -> store.lose(lock.key(), LossReason.SESSION_LOST)));

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::tryAcquire)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));

        assertThat(next(losses)).isEqualTo(LossReason.SESSION_LOST);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(losses).isEmpty();
    }

    @Test
    void givenInterruptOnLossAndAListener_whenTheWorkerWasShownTheLoss_thenTakenAnew() throws Exception {
        Lock lock =
                locks.lock("x").ttl(TTL).interruptOnLoss().onLost(losses::add).create();
        store.next(FIND, Fault.meanwhile(() -> store.lose(lock.key(), LossReason.SESSION_LOST)));
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.isAcquired()).isFalse();

        assertThat(next(losses)).isEqualTo(LossReason.SESSION_LOST);
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    /** Who finds it by a call is not interrupted: that call tells it. */
    @Test
    void givenInterruptOnLoss_whenTheWorkerFindsTheEndOfTheSessionAsItAcquires_thenThrownOnce() {
        AtomicBoolean live = new AtomicBoolean(true);
        Lease lease = new Lease(OptionalLong.of(System.nanoTime()), TTL, Optional.empty(), live::get);
        store.next(SAVE, Fault.answering(new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), lease)));
        Lock lock = locks.lock("x").ttl(TTL).interruptOnLoss().create();
        assertThat(lock.tryAcquire()).isTrue();
        live.set(false);

        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::tryAcquire)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_LOST));

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    @Tag("slow")
    void givenMaxHold_whenItIsOver_thenLostThoughRefreshedAndFreeAtOnce() throws Exception {
        Lock lock = locks.lock("x")
                .ttl(RENEWED)
                .autoRefresh()
                // Between two renewals, so that none is under way then.
                .maxHold(RENEWED.multipliedBy(7).dividedBy(6))
                .onLost(losses::add)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        Lock rival = locks.createLock("x", TTL);

        rival.acquire();

        assertThat(lock.isExpired()).isTrue();
        assertThat(next(losses)).isEqualTo(LossReason.EXPIRED);
        assertThat(refreshes()).isPositive();
        store.forgetCalls();
        // Longer than from one renewal to the next.
        await().during(RENEWED.dividedBy(2)).until(() -> refreshes() == 0);
    }

    @Test
    void givenMaxHold_whenTheStoreHasNoLeases_thenItIsReleasedThen() throws Exception {
        try (LockFactory endless = new LockFactory(new Endless(memory, List.of()))) {
            Lock lock = endless.lock("x").maxHold(SHORT).onLost(losses::add).create();
            assertThat(lock.tryAcquire()).isTrue();

            endless.createLock("x").acquire(Duration.ofSeconds(30));

            assertThat(lock.isExpired()).isTrue();
            assertThat(next(losses)).isEqualTo(LossReason.EXPIRED);
        }
    }

    @Test
    void givenMinHold_whenReleasedSooner_thenNobodyGetsItBefore() throws Exception {
        Duration minHold = SHORT.multipliedBy(5);
        Lock lock = locks.lock("x").ttl(TTL).minHold(minHold).create();
        long start = System.nanoTime();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(lock.tryAcquire()).isFalse();
        assertThat(store.operations()).doesNotContain(DELETE);
        locks.createLock("x", TTL).acquire();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(minHold);
    }

    @Test
    void givenMinHoldIsOver_whenReleased_thenFreeAtOnce() {
        Lock lock = locks.lock("x").ttl(TTL).minHold(Duration.ofMillis(4)).create();
        assertThat(lock.tryAcquire()).isTrue();
        await().until(() -> lock.remainingLifetime().orElseThrow().compareTo(TTL.minusMillis(600)) < 0);

        assertThat(lock.release()).isTrue();

        assertThat(locks.createLock("x", TTL).tryAcquire()).isTrue();
    }

    @Test
    void givenNoLeases_whenMinHoldIsAskedFor_thenRefused() {
        try (LockFactory endless = new LockFactory(new Endless(memory, List.of()))) {
            LockBuilder builder = endless.lock("x").minHold(SHORT);

            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(builder::create);
        }
    }

    @Test
    @Tag("slow")
    void givenManyLocks_whenRenewed_thenInFewCallsAndOneFailureConcernsNobodyElse() {
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger renewals = new AtomicInteger();
        ExpiringStore counting = new Counting(memory, calls, renewals);
        try (LockFactory factory = new LockFactory(counting)) {
            List<Lock> held = new ArrayList<>();
            Lock failing = factory.lock("failing")
                    .ttl(RENEWED)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            assertThat(failing.tryAcquire()).isTrue();
            for (int i = 0; i < 1_000; i++) {
                Lock lock = factory.lock("many" + i).ttl(RENEWED).autoRefresh().create();
                assertThat(lock.tryAcquire()).isTrue();
                held.add(lock);
            }

            await().atMost(TimeLimits.LIMIT).until(() -> !losses.isEmpty());

            assertThat(losses).containsExactly(LossReason.STORE_UNREACHABLE);
            assertThat(held).allMatch(lock -> !lock.isExpired());
            assertThat(renewals.get()).isGreaterThan(1_000);
            assertThat(calls.get()).as("calls for %s renewals", renewals).isLessThan(renewals.get() / 4);
            List<String> threads = Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("latchkey-renewer"))
                    .toList();
            assertThat(threads).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    @Tag("slow")
    void givenARenewalIsNotAnswered_whenTheLeaseEnds_thenTheStoreIsToBlame() throws Exception {
        Pause pause = new Pause();
        store.always(REFRESH, Fault.pausedBefore(pause));
        Lock lock =
                locks.lock("x").ttl(RENEWED).autoRefresh().onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(next(losses)).isEqualTo(LossReason.STORE_UNREACHABLE);

        pause.end();
        assertThat(lock.isExpired()).isTrue();
    }

    /** A14: the work may still go on. */
    @Test
    @Tag("slow")
    void givenAbandonedWhileRenewed_whenCollected_thenHeldAndRenewedOn() {
        // Long enough for a busy machine to renew it in time.
        WeakReference<Lock> abandoned =
                abandon(locks.lock("x").ttl(Duration.ofSeconds(6)).autoRefresh());
        collect(abandoned);
        store.forgetCalls();

        await().atMost(TimeLimits.LIMIT).until(() -> refreshes() >= 2);

        assertThat(locks.createLock("x", TTL).tryAcquire()).isFalse();
        assertThat(store.operations()).doesNotContain(DELETE);
    }

    /** A14 */
    @Test
    void givenAbandonedWithoutLease_whenCollected_thenHeldUntilTheFactoryIsClosed() {
        LockFactory endless = new LockFactory(new Endless(memory, List.of()));
        WeakReference<Lock> abandoned = abandon(endless.lock("x"));
        collect(abandoned);

        await().during(SHORT).until(() -> !endless.createLock("x").tryAcquire());

        endless.close();
        assertThat(memory.holders("x")).isEmpty();
    }

    /** B8: a store that hangs when it is told of one hold must not end the renewal of others. */
    @Test
    @Tag("slow")
    void givenAnOverdueHoldThatCannotBeGivenUp_whenOthersAreDue_thenRenewedAllTheSame() throws Exception {
        Pause hangs = new Pause();
        store.next(DELETE, Fault.pausedBefore(hangs));
        BlockingQueue<LossReason> other = new LinkedBlockingQueue<>();
        Lock renewed =
                locks.lock("y").ttl(RENEWED).autoRefresh().onLost(other::add).create();
        assertThat(renewed.tryAcquire()).isTrue();
        Lock bounded =
                locks.lock("x").ttl(TTL).maxHold(SHORT).onLost(losses::add).create();
        assertThat(bounded.tryAcquire()).isTrue();
        hangs.awaitReached();
        store.forgetCalls();

        await().atMost(TimeLimits.LIMIT).until(() -> refreshes() >= 2 || !other.isEmpty());

        assertThat(other).isEmpty();
        hangs.end();
    }

    /** B9: an error in one renewal is a failure like others. */
    @Test
    @Tag("slow")
    void givenAnErrorOfTheStore_whenRenewedAgain_thenHeldStill() {
        store.next(REFRESH, Fault.meanwhile(() -> {
            throw new AssertionError("planted");
        }));
        Lock lock =
                locks.lock("x").ttl(RENEWED).autoRefresh().onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();

        await().atMost(TimeLimits.LIMIT).until(() -> refreshes() >= 3);

        assertThat(losses).isEmpty();
        assertThat(lock.isAcquired()).isTrue();
    }

    /** B9: an error in one release must not leave the others held, and renewed. */
    @Test
    void givenAnErrorOfTheStore_whenTheFactoryIsClosed_thenTheOthersAreReleased() {
        for (String name : List.of("a", "b", "c")) {
            assertThat(locks.createLock(name, TTL).tryAcquire()).isTrue();
        }
        store.next(DELETE, Fault.meanwhile(() -> {
            throw new AssertionError("planted");
        }));

        locks.close();

        assertThat(List.of("a", "b", "c")).allMatch(name -> memory.holders(name).isEmpty());
    }

    /** B17: a hold that reached its max hold is given up also while it waits to be promoted. */
    @Test
    void givenMaxHoldWithoutLeases_whenItWaitsToBePromoted_thenGivenUpAndTold() throws Exception {
        try (LockFactory endless = new LockFactory(new Endless(memory, List.of(SharedStore.class)))) {
            Lock reader = endless.createLock("x");
            Lock bounded = endless.lock("x").maxHold(SHORT).create();
            assertThat(reader.tryAcquireShared()).isTrue();
            assertThat(bounded.tryAcquireShared()).isTrue();

            BackgroundCall<Lock> promoter = BackgroundCall.start(bounded::acquire);

            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(promoter::result)
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
            assertThat(reader.acquire(Duration.ofSeconds(20)).fencingToken()).isPresent();
        }
    }

    /** B21: clients give up half way when the thread that closes them is interrupted. */
    @Test
    void givenInterrupted_whenTheFactoryIsClosed_thenTheStoreDoesNotSeeItAndTheFlagIsKept() {
        List<Boolean> seen = new ArrayList<>();
        store.next(DELETE, Fault.meanwhile(() -> seen.add(Thread.currentThread().isInterrupted())));
        assertThat(locks.createLock("x", TTL).tryAcquire()).isTrue();
        Thread.currentThread().interrupt();

        locks.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(seen).containsExactly(false);
    }

    /** One sets the alarm of the hold that the other ends. */
    @Test
    @Tag("slow")
    void givenAListener_whenOneThreadRefreshesWhatAnotherReleases_thenNeitherHindersTheOther() throws Exception {
        Lock lock = locks.createLock("x", TTL);
        lock.onLost(losses::add);
        AtomicBoolean over = new AtomicBoolean();
        BackgroundCall<Integer> refreshing = BackgroundCall.start(() -> {
            int refreshed = 0;
            while (!over.get()) {
                refreshed += refreshes(lock) ? 1 : 0;
            }
            return refreshed;
        });

        BackgroundCall<Boolean> cycles = BackgroundCall.start(() -> {
            for (int i = 0; i < 20_000; i++) {
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
            return true;
        });

        assertThat(cycles.result()).isTrue();
        over.set(true);
        assertThat(refreshing.result()).isPositive();
    }

    private static boolean refreshes(Lock lock) {
        try {
            lock.refresh();
            return true;
        } catch (LockLostException | IllegalStateException notHeld) {
            return false;
        }
    }

    @Test
    @Tag("slow")
    void givenClosed_whenTimePasses_thenNothingIsRenewedOrHeld() {
        Lock lock =
                locks.lock("x").ttl(RENEWED).autoRefresh().onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        await().until(() -> refreshes() > 0);

        locks.close();

        store.forgetCalls();
        // Longer than from one renewal to the next.
        await().during(RENEWED.dividedBy(2)).until(() -> store.calls().isEmpty());
        assertThat(losses).isEmpty();
        assertThat(memory.find(lock.key())).isEmpty();
    }

    /** The loss is told late, for listeners share a thread; what is held by then is another hold. */
    @Test
    void givenALossIsToldLate_whenAcquiredAgainBefore_thenClosedWithTheFactoryAllTheSame() throws Exception {
        Pause busy = new Pause();
        Lock other = locks.lock("y").ttl(TTL).onLost(reason -> busy.pass()).create();
        assertThat(other.tryAcquire()).isTrue();
        Lock lock = locks.lock("x").ttl(TTL).onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(store.lose(other.key(), LossReason.SESSION_LOST)).isTrue();
        busy.awaitReached();
        assertThat(store.lose(lock.key(), LossReason.SESSION_LOST)).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
        busy.end();
        assertThat(next(losses)).isEqualTo(LossReason.SESSION_LOST);

        locks.close();

        assertThat(memory.holders("x")).isEmpty();
    }

    @Test
    void givenReleaseFails_whenTimePasses_thenNothingIsRenewed() {
        Lock lock = locks.lock("x").ttl(SHORT).autoRefresh().create();
        assertThat(lock.tryAcquire()).isTrue();
        store.next(DELETE, Fault.unreachable());
        lock.close();
        store.forgetCalls();

        await().during(SHORT).until(() -> refreshes() == 0);

        assertThat(locks.createLock("x", TTL).tryAcquire()).isTrue();
    }

    private long refreshes() {
        return store.operations().stream().filter(REFRESH::equals).count();
    }

    private static WeakReference<Lock> abandon(LockBuilder builder) {
        Lock lock = builder.create();
        assertThat(lock.tryAcquire()).isTrue();
        return new WeakReference<>(lock);
    }

    private static void collect(WeakReference<Lock> abandoned) {
        await().atMost(TimeLimits.LIMIT).until(() -> {
            System.gc();
            return abandoned.get() == null;
        });
    }

    /** Hides that holds expire. */
    record Endless(PersistingStore store, List<Class<?>> capabilities) implements PersistingStore {

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            return capabilities.contains(type) ? store.capability(type) : PersistingStore.super.capability(type);
        }

        @Override
        public Response save(Request request) {
            return withoutLease(
                    store.save(new Request(request.key(), request.mode(), Duration.ofDays(1), request.retryIntent())));
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key).map(granted -> (Response.Granted) withoutLease(granted));
        }

        private static Response withoutLease(Response response) {
            return response instanceof Response.Granted granted
                    ? new Response.Granted(granted.mode(), granted.fencingToken(), Lease.endless())
                    : response;
        }
    }

    /** Counts calls, and fails to renew what is called "failing". */
    private record Counting(InMemoryStore store, AtomicInteger calls, AtomicInteger renewals) implements ExpiringStore {

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
            renewals.incrementAndGet();
            if (request.key().resource().equals("failing")) {
                throw new LockStorageException("failing", "a planted fault", null);
            }
            return store.refresh(request);
        }

        @Override
        public boolean refreshesAtOnce() {
            return true;
        }

        @Override
        public List<RefreshResult> refreshAll(List<Request> requests) {
            calls.incrementAndGet();
            return ExpiringStore.super.refreshAll(requests);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }
    }
}

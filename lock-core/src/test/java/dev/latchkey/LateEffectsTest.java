package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an answer of the store has done here, where something else has happened meanwhile, or something fails. */
class LateEffectsTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final Hooked store = new Hooked();
    private final FactoryContext context = new FactoryContext(store);
    private final List<LossReason> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void givenLetGoOfMeanwhile_whenEnteredAsHeld_thenForgotten() {
        ActiveLocks active = new ActiveLocks();
        active.entry(new NothingHeld(), Optional.empty()).holds();

        assertThat(active.isEmpty()).isTrue();
    }

    @Test
    void givenAReceivedKey_whenClosedBesideItsFirstRefresh_thenLeftAndForgotten() {
        Lock received = received().create();
        store.whenRefreshed = context::close;

        received.refresh();

        assertThat(context.active().isEmpty()).isTrue();
        assertThat(received.release()).isTrue();
    }

    /** It was held on in the store, and neither renewed nor released any more. */
    @Test
    void givenAReceivedKeyWithAutoRelease_whenClosedBesideItsFirstRefresh_thenReleased() {
        Lock received = received().autoRelease().autoRefresh().create();
        store.whenRefreshed = context::close;

        assertThatIllegalStateException().isThrownBy(received::refresh).withMessageContaining("closed");

        assertThat(store.find(received.key())).isEmpty();
        assertThat(context.active().isEmpty()).isTrue();
    }

    @Test
    void givenAReceivedKeyWithAutoRelease_whenClosedBesideTheFirstLook_thenReleased() {
        Lock received = received().autoRelease().create();
        store.whenFound = context::close;

        assertThat(received.isAcquired()).isFalse();

        assertThat(context.active().isEmpty()).isTrue();
    }

    /** The next hold was kept from others, for the min hold that was asked for the one before. */
    @Test
    void givenLostAndAcquiredAnewMeanwhile_whenRefreshedWithAMinHold_thenTheNextHoldHasNone() {
        Lock lock = new LockBuilder(context, "x").ttl(TTL).create();
        assertThat(lock.tryAcquire()).isTrue();
        store.lost = new Signal(() -> {
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::tryAcquire);
            assertThat(lock.tryAcquire()).isTrue();
        });

        Lock unused = lock.refresh(TTL, TTL);
        assertThat(lock.release()).isTrue();

        assertThat(new LockBuilder(context, "x").create().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    void givenALookThatFailsOnce_whenTheAlarmGoesOff_thenWarnedAndToldOfTheLossAllTheSame() {
        List<Duration> warnings = new CopyOnWriteArrayList<>();
        AtomicBoolean fails = new AtomicBoolean();
        store.isLive = () -> isLiveUnless(fails);
        Lock lock = new LockBuilder(context, "x")
                // The alarm may be late, but goes off before the lease is over.
                .ttl(Duration.ofSeconds(6))
                .warnBefore(Duration.ofSeconds(5), warnings::add)
                .onLost(losses::add)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        fails.set(true);

        await().atMost(LIMIT).until(() -> !losses.isEmpty());

        assertThat(losses).containsExactly(LossReason.EXPIRED);
        assertThat(warnings).hasSize(1);
        assertThat(fails).isFalse();
    }

    /** A wait that ends then, or a sweep, had the factory forget what nobody else ends in a store without leases. */
    @Test
    void givenTheEndOfAMaxHoldIsNoticedLate_whenTheFactoryIsClosed_thenEndedInTheStore() {
        var alarmNeverRuns =
                new FactoryThreads((task, name) -> new Thread(name.equals("latchkey-alarm") ? () -> {} : task, name));
        FactoryContext late = new FactoryContext(store, alarmNeverRuns);
        LockSettings settings = new LockSettings(
                TTL,
                LockSettings.RenewalPolicy.BY_THE_HOLDER,
                LockSettings.AutoRelease.ON,
                LockSettings.OnLoss.GOES_ON,
                Duration.ZERO,
                Duration.ofMillis(100),
                Optional.empty(),
                List.of(),
                LockSettings.Resources.ONE,
                Duration.ZERO);
        Key key = Key.of("x");
        LockEngine lock = new LockEngine(late, key, settings, LockSettings.Origin.MADE_HERE, Optional.empty());
        store.asksFor = TTL;
        assertThat(lock.tryAcquire(LockMode.EXCLUSIVE)).isEqualTo(Outcome.GRANTED);
        await().atMost(LIMIT).until(() -> !lock.held().isHeld());

        lock.held().active().mayBeIdle();
        late.close();

        assertThat(store.find(key)).isEmpty();
    }

    /** As while there is no memory: the alarm thread has spun until there was some. */
    @Test
    void givenAlarmsThatFail_whenTriedAgain_thenAtOnceFirstAndLessOftenThen() {
        assertThat(LeaseMonitor.pauseAfter(0)).isZero();
        assertThat(LeaseMonitor.pauseAfter(1)).isPositive().isLessThan(Duration.ofMillis(5));
        assertThat(LeaseMonitor.pauseAfter(2)).isGreaterThan(LeaseMonitor.pauseAfter(1));
        assertThat(LeaseMonitor.pauseAfter(1_000)).isBetween(Duration.ofMillis(100), Duration.ofSeconds(1));
    }

    @Test
    @Tag("slow")
    void givenALookThatFailsOnce_whenRenewed_thenRenewedAgain() {
        AtomicBoolean fails = new AtomicBoolean();
        AtomicInteger refreshes = new AtomicInteger();
        store.isLive = () -> isLiveUnless(fails);
        store.whenRefreshed = () -> fails.set(refreshes.incrementAndGet() == 1);
        Lock lock = new LockBuilder(context, "x")
                .ttl(Duration.ofSeconds(12))
                .autoRefresh()
                .create();
        assertThat(lock.tryAcquire()).isTrue();

        await().atMost(LIMIT).until(() -> refreshes.get() >= 2);

        assertThat(lock.release()).isTrue();
    }

    private static boolean isLiveUnless(AtomicBoolean fails) {
        if (fails.getAndSet(false)) {
            throw new AssertionError("planted");
        }
        return true;
    }

    private LockBuilder received() {
        Lock giver = new LockBuilder(context, "x").ttl(TTL).create();
        assertThat(giver.tryAcquire()).isTrue();
        return new LockBuilder(context, giver.transferKey()).ttl(TTL);
    }

    private static final class NothingHeld implements ActiveLocks.Holder {

        @Override
        public String resource() {
            return "x";
        }

        @Override
        public boolean isHeld() {
            return false;
        }

        @Override
        public void look() {}

        @Override
        public boolean hasToEnd() {
            return false;
        }

        @Override
        public void end() {}
    }

    /** Is lost at once when somebody listens. */
    private static final class Signal extends CompletableFuture<LossReason> {

        private final Runnable whenLost;

        Signal(Runnable whenLost) {
            this.whenLost = whenLost;
        }

        @Override
        public CompletableFuture<LossReason> whenComplete(BiConsumer<? super LossReason, ? super Throwable> action) {
            CompletableFuture<LossReason> told = super.whenComplete(action);
            if (complete(LossReason.SESSION_LOST)) {
                whenLost.run();
            }
            return told;
        }
    }

    private static final class Hooked implements ExpiringStore {

        private final InMemoryStore store = new InMemoryStore();
        private Runnable whenRefreshed = () -> {};
        private Runnable whenFound = () -> {};
        private CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private BooleanSupplier isLive = () -> true;

        /** What a lease lasts, whatever was asked for. */
        private @Nullable Duration asksFor;

        private Response inSession(Response response) {
            return response instanceof Response.Granted granted ? inSession(granted) : response;
        }

        private Response.Granted inSession(Response.Granted granted) {
            Lease lease = granted.lease();
            return new Response.Granted(
                    granted.mode(),
                    granted.fencingToken(),
                    Lease.session(lost, isLive).withTime(lease.since(), lease.ttl()));
        }

        @Override
        public Response save(Request request) {
            Request asked = asksFor == null
                    ? request
                    : new Request(request.key(), request.mode(), asksFor, request.retryIntent());
            return store.save(asked) instanceof Response.Granted granted
                    ? new Response.Granted(
                            granted.mode(),
                            granted.fencingToken(),
                            Lease.session(new CompletableFuture<>(), isLive)
                                    .withTime(
                                            granted.lease().since(),
                                            granted.lease().ttl()))
                    : Response.Conflicted.NO_HINT;
        }

        @Override
        public Response refresh(Request request) {
            Response response = store.refresh(request);
            whenRefreshed.run();
            return inSession(response);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            Optional<Response.Granted> found = store.find(key);
            whenFound.run();
            return found.map(this::inSession);
        }
    }
}

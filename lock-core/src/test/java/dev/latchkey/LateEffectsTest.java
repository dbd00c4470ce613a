package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
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
                .ttl(Duration.ofSeconds(2))
                .warnBefore(Duration.ofSeconds(1), warnings::add)
                .onLost(losses::add)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        fails.set(true);

        await().until(() -> !losses.isEmpty());

        assertThat(losses).containsExactly(LossReason.EXPIRED);
        assertThat(warnings).hasSize(1);
        assertThat(fails).isFalse();
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

        await().until(() -> refreshes.get() == 2);

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
            return store.save(request) instanceof Response.Granted granted
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

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Readers, writers and promoters in the store's own queue: for a store that is both {@link SharedStore} and
 * {@link BlockingStore}. Of two readers that wait to promote, the second is refused at once.
 */
@ContractFor({SharedStore.class, BlockingStore.class})
public interface SharedBlockingContract extends SharedStoreContract, BlockingStoreContract {

    @Test
    default void givenWriter_whenReadersWait_thenAllReadOnceItDeletes(Fixture fixture) throws Exception {
        Key writer = fixture.key();
        granted(fixture.store().save(exclusive(writer)));
        List<BackgroundCall<Response>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(waiting(fixture, shared(fixture.key())));
        }

        assertThat(fixture.store().delete(writer)).isTrue();

        for (BackgroundCall<Response> reader : waiting) {
            assertThat(granted(fixture.woken(reader)).mode()).isEqualTo(LockMode.SHARED);
        }
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenReaders_whenWriterWaits_thenItWritesOnceTheLastDeletes(Fixture fixture) throws Exception {
        Key first = reader(fixture);
        Key second = reader(fixture);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(fixture.key()));
        assertThat(fixture.store().delete(first)).isTrue();
        assertThat(waiting.isDone()).isFalse();

        assertThat(fixture.store().delete(second)).isTrue();

        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenPromoterWaits_whenTheOtherReaderDeletes_thenExclusive(Fixture fixture) throws Exception {
        Key promoter = reader(fixture);
        Key other = reader(fixture);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(promoter));
        assertThat(fixture.store().find(promoter).orElseThrow().mode()).isEqualTo(LockMode.SHARED);

        assertThat(fixture.store().delete(other)).isTrue();

        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(fixture.store().save(shared(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    /** F8: two promoters waited for each other. */
    @Test
    default void givenPromoterWaits_whenAnotherWantsToWait_thenRefusedAtOnceAndItReadsStill(Fixture fixture)
            throws Exception {
        Key first = reader(fixture);
        Key second = reader(fixture);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(first));
        awaitPromoterInStore(fixture, waiting);

        Response response =
                fixture.store(BlockingStore.class).waitAndSave(exclusive(second), LONG_WAIT, new CompletableFuture<>());

        assertThat(response).isInstanceOf(Response.Refused.class);
        assertThat(fixture.store().find(second).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(waiting.isDone()).isFalse();
        assertThat(fixture.store().delete(second)).isTrue();
        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenPromoterWaits_whenAnotherLockWantsToPromote_thenConflictThatSaysWhy(Fixture fixture)
            throws Exception {
        Lock first = fixture.lock();
        Lock second = fixture.lock();
        assertThat(first.tryAcquireShared()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
        BackgroundCall<Lock> waiting = fixture.startWaiting(first::acquire);
        awaitPromoterInStore(fixture, waiting);

        assertThatThrownBy(second::acquire)
                .isInstanceOf(LockConflictedException.class)
                .hasMessageContaining("promotion");

        assertThat(second.isAcquired()).isTrue();
        assertThat(second.release()).isTrue();
        assertThat(fixture.woken(waiting).isAcquired()).isTrue();
    }

    @Test
    default void givenThePromoterGaveUp_whenTheOtherWaitsToPromote_thenItMay(Fixture fixture) throws Exception {
        Key first = reader(fixture);
        Key second = reader(fixture);
        Response gaveUp =
                fixture.store(BlockingStore.class).waitAndSave(exclusive(first), SHORT_WAIT, new CompletableFuture<>());
        assertThat(gaveUp).isInstanceOf(Response.Conflicted.class);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(second));

        assertThat(fixture.store().delete(first)).isTrue();

        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenPromoterIsInterrupted_whenLookedAt_thenItReadsStillAndOthersMayRead(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key promoter = reader(fixture);
        Key other = reader(fixture);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(promoter));

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(store.find(promoter).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(store.save(shared(fixture.key()))).isInstanceOf(Response.Granted.class);
        assertThat(store.find(other)).isPresent();
    }

    @Test
    default void givenPromoterIsWithdrawn_whenLookedAt_thenItReadsStill(Fixture fixture) throws Exception {
        PersistingStore store = fixture.store();
        Key promoter = reader(fixture);
        Key other = reader(fixture);
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        BackgroundCall<Response> waiting = fixture.startWaiting(
                () -> fixture.store(BlockingStore.class).waitAndSave(exclusive(promoter), LONG_WAIT, withdrawn));

        withdrawn.complete(null);

        assertThat(fixture.woken(waiting)).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(other)).isTrue();
        assertThat(store.find(promoter).orElseThrow().mode()).isEqualTo(LockMode.SHARED);
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.delete(promoter)).isTrue();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenPromoterWaits_whenItsSharedHoldIsDeleted_thenLost(Fixture fixture) throws Exception {
        Key promoter = reader(fixture);
        Key other = reader(fixture);
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(promoter));

        assertThat(fixture.store().delete(promoter)).isTrue();
        assertThat(fixture.store().delete(other)).isTrue();

        assertThat(waiting.result()).isInstanceOf(Response.Lost.class);
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenPromoterAndWriterWait_whenTheOtherReaderDeletes_thenThePromoterIsFirst(Fixture fixture)
            throws Exception {
        Key promoter = reader(fixture);
        Key other = reader(fixture);
        BackgroundCall<Response> writing = waiting(fixture, exclusive(fixture.key()));
        BackgroundCall<Response> promoting = waiting(fixture, exclusive(promoter));

        assertThat(fixture.store().delete(other)).isTrue();

        assertThat(granted(fixture.woken(promoting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(writing.isDone()).isFalse();
        assertThat(fixture.store().delete(promoter)).isTrue();
        assertThat(granted(fixture.woken(writing)).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenWriterWaits_whenTheHolderDemotes_thenItGoesOnWaiting(Fixture fixture) throws Exception {
        Key key = fixture.key();
        Key writer = holding(key, fixture.store().save(exclusive(key)));
        BackgroundCall<Response> waiting = waiting(fixture, exclusive(fixture.key()));

        granted(fixture.store().save(shared(writer)));

        assertThat(fixture.store().find(key)).isPresent();
        assertThat(waiting.isDone()).isFalse();
        assertThat(fixture.store().delete(key)).isTrue();
        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenReaderWaits_whenTheWriterDemotes_thenBothRead(Fixture fixture) throws Exception {
        Key key = fixture.key();
        Key writer = holding(key, fixture.store().save(exclusive(key)));
        BackgroundCall<Response> waiting = waiting(fixture, shared(fixture.key()));

        granted(fixture.store().save(shared(writer)));

        assertThat(granted(fixture.woken(waiting)).mode()).isEqualTo(LockMode.SHARED);
        assertThat(fixture.store().find(key)).isPresent();
    }

    private static Key reader(Fixture fixture) {
        Key key = fixture.key();
        return holding(key, fixture.store().save(shared(key)));
    }

    /** A thread that is parked may only wait for an answer yet. In the store, a waiting promoter keeps new readers out. */
    private static void awaitPromoterInStore(Fixture fixture, BackgroundCall<?> waiting) {
        Awaitility.await("a promoter to wait in the store")
                .atMost(TimeLimits.LIMIT)
                .until(() -> {
                    Key reader = fixture.key();
                    if (fixture.store().save(shared(reader)) instanceof Response.Granted) {
                        assertThat(fixture.store().delete(reader)).isTrue();
                        return waiting.isDone();
                    }
                    return true;
                });
    }

    private static BackgroundCall<Response> waiting(Fixture fixture, Request request) {
        return fixture.startWaiting(
                () -> fixture.store(BlockingStore.class).waitAndSave(request, LONG_WAIT, new CompletableFuture<>()));
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.WaitingContract.LONG_WAIT;
import static dev.latchkey.testkit.WaitingContract.SHORT_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Waiting in the store's own queue: for a {@link BlockingStore}. However a wait ends other than by a grant, the key holds
 * what it held before, and nothing of the wait is left in the store.
 */
@ContractFor(BlockingStore.class)
public interface BlockingStoreContract extends StoreContract {

    /** A caller that does not change its mind. */
    private static CompletionStage<?> never() {
        return new CompletableFuture<>();
    }

    @Test
    default void givenFree_whenWaitedFor_thenGrantedAtOnce(Fixture fixture) throws Exception {
        Key key = fixture.key();

        Response response = fixture.store(BlockingStore.class).waitAndSave(exclusive(key), LONG_WAIT, never());

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().find(key)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenHeld_whenTheWaitIsOver_thenConflictAndNothingIsLeft(Fixture fixture) throws Exception {
        Key holder = holder(fixture);
        Key waiter = fixture.key();

        Response response = fixture.store(BlockingStore.class).waitAndSave(exclusive(waiter), SHORT_WAIT, never());

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().find(holder)).isPresent();
        assertThat(fixture.store().delete(holder)).isTrue();
        assertThat(fixture.store().find(waiter)).isEmpty();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenHeld_whenMaxWaitIsTiny_thenConflict(Fixture fixture) throws Exception {
        holder(fixture);

        Response response =
                fixture.store(BlockingStore.class).waitAndSave(exclusive(fixture.key()), Duration.ofNanos(1), never());

        assertThat(response).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenWaiting_whenTheHolderDeletes_thenGranted(Fixture fixture) throws Exception {
        Key holder = holder(fixture);
        Key waiter = fixture.key();
        BackgroundCall<Response> waiting = waiting(fixture, waiter, never());
        assertThat(fixture.store().find(waiter)).isEmpty();

        assertThat(fixture.store().delete(holder)).isTrue();

        assertThat(fixture.woken(waiting)).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().find(waiter)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenSeveralWait_whenEachDeletes_thenAllAreGranted(Fixture fixture) throws Exception {
        Key holder = holder(fixture);
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Key waiter = fixture.key();
            calls.add(fixture.startWaiting(() -> {
                granted(fixture.store(BlockingStore.class).waitAndSave(exclusive(waiter), LONG_WAIT, never()));
                return fixture.store().delete(waiter);
            }));
        }

        assertThat(fixture.store().delete(holder)).isTrue();

        for (BackgroundCall<Boolean> call : calls) {
            assertThat(fixture.woken(call)).isTrue();
        }
    }

    @Test
    default void givenWaiting_whenWithdrawn_thenConflictAtOnceAndNothingIsLeft(Fixture fixture) throws Exception {
        Key holder = holder(fixture);
        Key waiter = fixture.key();
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        BackgroundCall<Response> waiting = waiting(fixture, waiter, withdrawn);

        withdrawn.complete(null);

        assertThat(fixture.woken(waiting)).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().delete(holder)).isTrue();
        assertThat(fixture.store().find(waiter)).isEmpty();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenHeldAndWithdrawnBefore_whenWaitedFor_thenConflictAtOnce(Fixture fixture) throws Exception {
        holder(fixture);

        BackgroundCall<Response> waiting = fixture.start(() -> fixture.store(BlockingStore.class)
                .waitAndSave(exclusive(fixture.key()), LONG_WAIT, CompletableFuture.completedFuture(null)));

        assertThat(fixture.woken(waiting)).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenWaiting_whenInterrupted_thenNothingIsLeft(Fixture fixture) {
        Key holder = holder(fixture);
        Key waiter = fixture.key();
        BackgroundCall<Response> waiting = waiting(fixture, waiter, never());

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(fixture.store().find(holder)).isPresent();
        assertThat(fixture.store().delete(holder)).isTrue();
        assertThat(fixture.store().find(waiter)).isEmpty();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenInterruptFlagAndFree_whenWaitedFor_thenInterruptedAndNothingHeld(Fixture fixture) {
        Key key = fixture.key();
        BackgroundCall<Response> call = fixture.start(() -> {
            Thread.currentThread().interrupt();
            return fixture.store(BlockingStore.class).waitAndSave(exclusive(key), LONG_WAIT, never());
        });

        assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);

        assertThat(fixture.store().find(key)).isEmpty();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenAWaiterGoes_whenTheHolderDeletes_thenTheNextIsGranted(Fixture fixture) throws Exception {
        Key holder = holder(fixture);
        CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        BackgroundCall<Response> first = waiting(fixture, fixture.key(), withdrawn);
        BackgroundCall<Response> second = waiting(fixture, fixture.key(), never());
        withdrawn.complete(null);
        assertThat(fixture.woken(first)).isInstanceOf(Response.Conflicted.class);

        assertThat(fixture.store().delete(holder)).isTrue();

        assertThat(fixture.woken(second)).isInstanceOf(Response.Granted.class);
    }

    @Test
    @Tag("slow")
    default void givenDeleteAndWithdrawalCross_whenTheWaitEnds_thenItHoldsWhatItSays(Fixture fixture) throws Exception {
        for (int i = 0; i < 50; i++) {
            Key holder = holder(fixture);
            Key waiter = fixture.key();
            CompletableFuture<Void> withdrawn = new CompletableFuture<>();
            BackgroundCall<Response> waiting = waiting(fixture, waiter, withdrawn);
            BackgroundCall<Boolean> deleting =
                    fixture.start(() -> fixture.store().delete(holder));
            InterruptContract.spin(ThreadLocalRandom.current().nextInt(20_000));

            withdrawn.complete(null);

            boolean holds = waiting.result() instanceof Response.Granted;
            assertThat(deleting.result()).isTrue();
            assertHoldsOrFree(fixture, waiter, holds);
        }
    }

    @Test
    @Tag("slow")
    default void givenDeleteAndTheEndOfTheWaitCross_whenTheWaitEnds_thenItHoldsWhatItSays(Fixture fixture)
            throws Exception {
        for (int i = 0; i < 50; i++) {
            Key holder = holder(fixture);
            Key waiter = fixture.key();
            BackgroundCall<Response> waiting = fixture.start(() ->
                    fixture.store(BlockingStore.class).waitAndSave(exclusive(waiter), Duration.ofMillis(3), never()));
            InterruptContract.spin(ThreadLocalRandom.current().nextInt(200_000));

            assertThat(fixture.store().delete(holder)).isTrue();

            boolean holds = waiting.result() instanceof Response.Granted;
            assertHoldsOrFree(fixture, waiter, holds);
        }
    }

    @Test
    default void givenWaiting_whenTheStoreIsClosed_thenTheWaitFails(Fixture fixture) throws Exception {
        try (PersistingStore store = fixture.openSeparateStore()) {
            BlockingStore blocking = store.capability(BlockingStore.class).orElseThrow();
            granted(store.save(exclusive(Key.of(fixture.resource()))));
            BackgroundCall<Response> waiting = fixture.startWaiting(
                    () -> blocking.waitAndSave(exclusive(Key.of(fixture.resource())), LONG_WAIT, never()));

            closeNow(store);

            assertThatThrownBy(waiting::result).isInstanceOf(LockException.class);
        }
    }

    private static void closeNow(PersistingStore store) {
        store.close();
    }

    private static void assertHoldsOrFree(Fixture fixture, Key waiter, boolean holds) {
        assertThat(fixture.store().find(waiter).isPresent()).isEqualTo(holds);
        Key next = fixture.key();
        assertThat(fixture.store().save(exclusive(next)) instanceof Response.Granted)
                .isEqualTo(!holds);
        assertThat(fixture.store().delete(waiter)).isEqualTo(holds);
        assertThat(fixture.store().delete(next)).isEqualTo(!holds);
    }

    private static Key holder(Fixture fixture) {
        Key holder = fixture.key();
        granted(fixture.store().save(exclusive(holder)));
        return holder;
    }

    private static BackgroundCall<Response> waiting(Fixture fixture, Key key, CompletionStage<?> withdrawn) {
        return fixture.startWaiting(
                () -> fixture.store(BlockingStore.class).waitAndSave(exclusive(key), LONG_WAIT, withdrawn));
    }
}

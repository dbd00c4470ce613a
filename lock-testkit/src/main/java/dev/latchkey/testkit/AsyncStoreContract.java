package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What is asked without waiting is answered as what waits: for an {@link AsyncStore}. */
@ContractFor(AsyncStore.class)
public interface AsyncStoreContract extends StoreContract {

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Also as the first thing a store is ever asked, when it has no connection yet. */
    @Test
    default void givenFree_whenSavedAndDeletedWithoutWaiting_thenAsWithWaiting(Fixture fixture) throws Exception {
        AsyncStore store = fixture.store(AsyncStore.class);
        Key key = fixture.key();
        long before = System.nanoTime();

        Response.Granted granted = granted(answer(store.saveAsync(exclusive(key), 0)));

        assertThat(granted.lease().since().orElse(before) - before).isNotNegative();
        assertThat(store.find(key).orElseThrow().fencingToken()).isEqualTo(granted.fencingToken());
        assertThat(answer(store.saveAsync(exclusive(fixture.key()), 0))).isInstanceOf(Response.Conflicted.class);
        assertThat(answer(store.deleteAsync(fixture.key()))).isFalse();
        assertThat(answer(store.deleteAsync(holding(key, granted)))).isTrue();
        assertThat(store.find(key)).isEmpty();
        assertThat(answer(store.saveAsync(exclusive(holding(key, granted)), 0))).isInstanceOf(Response.Lost.class);
    }

    @Test
    default void givenManyAtOnce_whenSavedWithoutWaiting_thenOneOfThemIsGranted(Fixture fixture) throws Exception {
        AsyncStore store = fixture.store(AsyncStore.class);
        List<CompletionStage<Response>> asked = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            asked.add(store.saveAsync(exclusive(fixture.key()), 0));
        }

        int granted = 0;
        for (CompletionStage<Response> stage : asked) {
            granted += answer(stage) instanceof Response.Granted ? 1 : 0;
        }

        assertThat(granted).isEqualTo(1);
    }

    @Test
    default void givenInterrupted_whenAsked_thenItIsDoneAndTheFlagStays(Fixture fixture) throws Exception {
        AsyncStore store = fixture.store(AsyncStore.class);
        Key key = fixture.key();
        Thread.currentThread().interrupt();

        CompletionStage<Response> asked = store.saveAsync(exclusive(key), 0);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(answer(asked)).isInstanceOf(Response.Granted.class);
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static dev.latchkey.testkit.StickyRequests.claiming;
import static dev.latchkey.testkit.StickyRequests.sticky;
import static dev.latchkey.testkit.StickyRequests.token;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.SharedStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Holds that are kept between several uses, their recall and their tokens, as a {@link RecallableStore} has them. */
@ContractFor(RecallableStore.class)
public interface RecallableStoreContract extends StoreContract {

    @Test
    default void givenAStickyHold_whenAnotherIsRefused_thenItIsRecalledAndTheOtherIsToldSo(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        CompletionStage<Void> recalled = recalled(store.save(sticky(fixture.key())));

        Response refusal = store.save(exclusive(fixture.key()));

        assertThat(refusal).isInstanceOf(Response.Conflicted.class);
        assertThat(((Response.Conflicted) refusal).isRecalled()).isTrue();
        awaitDone(recalled);
    }

    @Test
    default void givenAStickyHold_whenAnotherWaits_thenItIsRecalled(Fixture fixture) throws Exception {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key holder = fixture.key();
        CompletionStage<Void> recalled = recalled(store.save(sticky(holder)));
        Key waiter = fixture.key();

        BackgroundCall<Response> wait =
                fixture.start(() -> store.waitAndSave(exclusive(waiter), TimeLimits.LIMIT, new CompletableFuture<>()));

        awaitDone(recalled);
        assertThat(store.delete(holder)).isTrue();
        granted(fixture.woken(wait));
    }

    /** Not every store serves them in the order in which they came. */
    @Test
    default void givenOthersWait_whenAStickyHoldIsGranted_thenItIsRecalledAtOnce(Fixture fixture) throws Exception {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key holder = fixture.key();
        granted(store.save(sticky(holder)));
        Map<Key, BackgroundCall<Response>> waits = new HashMap<>();
        for (Key waiter : List.of(fixture.key(), fixture.key())) {
            waits.put(
                    waiter,
                    fixture.startWaiting(() -> store.waitAndSave(
                            sticky(waiter).with(RetryIntent.AGAIN), TimeLimits.LIMIT, new CompletableFuture<>())));
        }

        assertThat(store.delete(holder)).isTrue();

        Key next = Awaitility.await("one of them to be granted it")
                .atMost(TimeLimits.LIMIT)
                .until(
                        () -> waits.entrySet().stream()
                                .filter(wait -> wait.getValue().isDone())
                                .map(Map.Entry::getKey)
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
        awaitDone(recalled(fixture.woken(Objects.requireNonNull(waits.remove(next)))));
        assertThat(store.delete(next)).isTrue();
        granted(fixture.woken(waits.values().iterator().next()));
    }

    @Test
    default void givenAStickyHold_whenItsOwnerRenews_thenItIsNotRecalled(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key key = fixture.key();
        Response.Granted granted = granted(store.save(sticky(key)));

        Response.Granted renewed =
                granted(store.save(sticky(claiming(key, granted.fencingToken().orElseThrow()))));

        assertThat(renewed.fencingToken()).isEqualTo(granted.fencingToken());
        assertThat(recalled(granted).toCompletableFuture()).isNotDone();
        assertThat(store.find(key)).isPresent();
    }

    @Test
    default void givenAnOrdinaryHold_whenAnotherIsRefused_thenNobodyIsRecalled(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        Response.Granted granted = granted(store.save(exclusive(fixture.key())));

        Response refusal = store.save(exclusive(fixture.key()));

        assertThat(granted.lease().recalled()).isEmpty();
        assertThat(((Response.Conflicted) refusal).isRecalled()).isFalse();
    }

    @Test
    default void givenATokenOfTheRange_whenItIsClaimed_thenItIsThatOfTheHold(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key key = fixture.key();
        long first = token(store.save(sticky(key)));
        Key used = claiming(key, first + 7);

        assertThat(token(store.save(sticky(used)))).isEqualTo(first + 7);

        assertThat(store.find(used).orElseThrow().fencingToken()).hasValue(first + 7);
        assertThat(store.delete(used)).isTrue();
        assertThat(token(store.save(exclusive(fixture.key())))).isGreaterThan(first + 7);
    }

    @Test
    default void givenATokenAfterTheRange_whenItIsClaimed_thenLost(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key key = fixture.key();
        Request request = sticky(key);
        long first = token(store.save(request));

        assertThat(store.save(sticky(claiming(key, first + store.reservedTokens(request) + 1))))
                .isInstanceOf(Response.Lost.class);
        assertThat(token(store.save(sticky(claiming(key, first + store.reservedTokens(request))))))
                .isEqualTo(first + store.reservedTokens(request));
    }

    /** Who releases without a claim may have used all of them. */
    @Test
    default void givenAStickyHold_whenItIsReleasedWithoutAClaim_thenTheNextTokenIsGreaterThanAllThatWereReserved(
            Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        Key key = fixture.key();
        Request request = sticky(key);
        long first = token(store.save(request));
        assertThat(store.reservedTokens(request)).isBetween(1L, request.reservedTokens());

        assertThat(store.delete(key)).isTrue();

        assertThat(token(store.save(exclusive(fixture.key())))).isGreaterThan(first + store.reservedTokens(request));
    }

    @Test
    default void givenAStickySharedHold_whenAWriterIsRefused_thenItIsRecalled(Fixture fixture) {
        RecallableStore store = fixture.store(RecallableStore.class);
        if (store.capability(SharedStore.class).isEmpty()) {
            return;
        }
        Request reads = sticky(fixture.key());
        Response.Granted granted = granted(store.save(new Request(
                reads.key(), LockMode.SHARED, reads.ttl(), RetryIntent.ONCE, LeaseChange.EXTEND, "", reads.sticky())));
        granted(store.save(shared(fixture.key())));
        assertThat(recalled(granted).toCompletableFuture()).isNotDone();

        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);

        awaitDone(recalled(granted));
    }

    private static CompletionStage<Void> recalled(Response response) {
        return granted(response).lease().recalled().orElseThrow();
    }

    private static void awaitDone(CompletionStage<Void> recalled) {
        Awaitility.await("the recall")
                .atMost(TimeLimits.LIMIT)
                .until(() -> recalled.toCompletableFuture().isDone());
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many resources at once, all or nothing: for a {@link BatchStore}. */
@ContractFor(BatchStore.class)
public interface BatchStoreContract extends StoreContract {

    @Test
    default void givenNothingAsked_whenSavedTogether_thenGranted(Fixture fixture) {
        BatchAttempt response = fixture.store(BatchStore.class).saveAll(List.of());

        assertThat(response).isEqualTo(new BatchAttempt.Granted(List.of()));
        assertThat(fixture.store(BatchStore.class).deleteAll(List.of())).isZero();
    }

    @Test
    default void givenFree_whenSavedTogether_thenAllAreHeldAsAsked(Fixture fixture) {
        Key one = fixture.key(fixture.resource() + "/one");
        Key two = fixture.key(fixture.resource() + "/two");

        List<Response.Granted> grants = grants(fixture, exclusive(one), shared(two));

        assertThat(grants).extracting(Response.Granted::mode).containsExactly(LockMode.EXCLUSIVE, LockMode.SHARED);
        assertThat(fixture.store().find(one)).map(Response.Granted::mode).contains(LockMode.EXCLUSIVE);
        assertThat(fixture.store().find(two)).map(Response.Granted::mode).contains(LockMode.SHARED);
        assertThat(grants.get(0).fencingToken())
                .isEqualTo(fixture.store().find(one).orElseThrow().fencingToken());
    }

    @Test
    default void givenSomeHeldByOthers_whenSavedTogether_thenEachOfThemIsNamedAndNothingTaken(Fixture fixture) {
        Key[] keys = keys(fixture, 5);
        granted(fixture.store().save(exclusive(other(fixture, keys[1]))));
        granted(fixture.store().save(shared(other(fixture, keys[3]))));
        granted(fixture.store().save(shared(other(fixture, keys[4]))));

        BatchAttempt response = fixture.store(BatchStore.class)
                .saveAll(List.of(
                        exclusive(keys[0]), shared(keys[1]), shared(keys[2]), exclusive(keys[3]), shared(keys[4])));

        assertThat(response)
                .isInstanceOfSatisfying(
                        BatchAttempt.Conflicted.class,
                        conflict -> assertThat(conflict.resources())
                                .containsExactlyInAnyOrder(keys[1].resource(), keys[3].resource()));
        assertNothingHeld(fixture, keys);
    }

    @Test
    default void givenConflict_whenSavedTogether_thenOthersMayTakeTheRest(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        granted(fixture.store().save(exclusive(other(fixture, keys[1]))));
        assertThat(fixture.store(BatchStore.class).saveAll(List.of(exclusive(keys[0]), exclusive(keys[1]))))
                .isInstanceOf(BatchAttempt.Conflicted.class);

        Response response = fixture.store().save(exclusive(other(fixture, keys[0])));

        assertThat(response).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenHeldShared_whenSavedTogetherExclusively_thenPromoted(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        Key reader = Requests.holding(keys[0], fixture.store().save(shared(keys[0])));

        grants(fixture, exclusive(reader), exclusive(keys[1]));

        assertThat(fixture.store().find(reader)).map(Response.Granted::mode).contains(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenSharedWithOthers_whenSavedTogetherExclusively_thenAllIsAsItWas(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        Key reader = Requests.holding(keys[0], fixture.store().save(shared(keys[0])));
        granted(fixture.store().save(shared(other(fixture, keys[0]))));

        BatchAttempt response = fixture.store(BatchStore.class).saveAll(List.of(exclusive(keys[1]), exclusive(reader)));

        assertThat(response)
                .isInstanceOfSatisfying(
                        BatchAttempt.Conflicted.class,
                        conflict -> assertThat(conflict.resources()).containsExactly(reader.resource()));
        assertThat(fixture.store().find(reader)).map(Response.Granted::mode).contains(LockMode.SHARED);
        assertNothingHeld(fixture, keys[1]);
    }

    @Test
    default void givenHeld_whenSavedTogetherAgain_thenRenewedWithTheSameFencingToken(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        List<Response.Granted> first = grants(fixture, exclusive(keys[0]), shared(keys[1]));
        Key writer = Requests.holding(keys[0], first.get(0));
        Key reader = Requests.holding(keys[1], first.get(1));

        List<Response.Granted> again = grants(fixture, exclusive(writer), shared(reader));

        assertThat(again).extracting(Response.Granted::mode).containsExactly(LockMode.EXCLUSIVE, LockMode.SHARED);
        assertThat(again.get(0).fencingToken()).isEqualTo(first.get(0).fencingToken());
    }

    @Test
    default void givenHeldExclusively_whenSavedTogetherShared_thenDemoted(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        Key writer = Requests.holding(keys[0], fixture.store().save(exclusive(keys[0])));

        grants(fixture, shared(writer), shared(keys[1]));

        assertThat(fixture.store().save(shared(other(fixture, keys[0])))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenClaimThatIsNotTrue_whenSavedTogether_thenLostAndNothingTaken(Fixture fixture) {
        Key[] keys = keys(fixture, 2);
        Key lost = Requests.holding(keys[1], fixture.store().save(shared(keys[1])));
        assertThat(fixture.store().delete(lost)).isTrue();

        BatchAttempt response = fixture.store(BatchStore.class).saveAll(List.of(exclusive(keys[0]), exclusive(lost)));

        assertThat(response)
                .isInstanceOfSatisfying(
                        BatchAttempt.Lost.class,
                        gone -> assertThat(gone.reasons()).containsOnlyKeys(lost.resource()));
        assertNothingHeld(fixture, keys);
    }

    @Test
    default void givenSomeHeld_whenDeletedTogether_thenThoseAreCountedAndAllIsFree(Fixture fixture) {
        Key[] keys = keys(fixture, 3);
        List<Response.Granted> grants = grants(fixture, exclusive(keys[0]), shared(keys[2]));
        Key other = other(fixture, keys[1]);
        granted(fixture.store().save(exclusive(other)));

        int held = fixture.store(BatchStore.class)
                .deleteAll(List.of(
                        Requests.holding(keys[0], grants.get(0)), keys[1], Requests.holding(keys[2], grants.get(1))));

        assertThat(held).isEqualTo(2);
        assertNothingHeld(fixture, keys);
        assertThat(fixture.store().find(other)).isPresent();
        grants(fixture, exclusive(fixture.key(keys[0].resource())), exclusive(fixture.key(keys[2].resource())));
    }

    @Test
    default void givenOthersWait_whenDeletedTogether_thenTheyAreNext(Fixture fixture) throws Exception {
        Key first = fixture.key();
        Key second = fixture.key(fixture.resource() + "/second");
        grants(fixture, exclusive(first), exclusive(second));
        Lock waiter = fixture.lock();
        BackgroundCall<Lock> waiting = fixture.startWaiting(waiter::acquire);

        assertThat(fixture.store(BatchStore.class).deleteAll(List.of(first, second)))
                .isEqualTo(2);

        assertThat(fixture.woken(waiting)).isSameAs(waiter);
        assertThat(waiter.isAcquired()).isTrue();
    }

    @Test
    default void givenManyResources_whenSavedTogether_thenAllAreHeld(Fixture fixture) {
        Key[] keys = keys(fixture, 300);
        List<Request> requests = new ArrayList<>();
        for (Key key : keys) {
            requests.add(requests.size() % 2 == 0 ? exclusive(key) : shared(key));
        }

        BatchAttempt response = fixture.store(BatchStore.class).saveAll(requests);

        assertThat(response)
                .isInstanceOfSatisfying(
                        BatchAttempt.Granted.class,
                        granted -> assertThat(granted.grants()).hasSize(300));
        assertThat(fixture.store(BatchStore.class).deleteAll(List.of(keys))).isEqualTo(300);
    }

    private static List<Response.Granted> grants(Fixture fixture, Request... requests) {
        BatchAttempt response = fixture.store(BatchStore.class).saveAll(List.of(requests));
        if (response instanceof BatchAttempt.Granted granted) {
            return granted.grants();
        }
        throw new AssertionError("expected a grant, but the store answered " + response);
    }

    private static Key[] keys(Fixture fixture, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> fixture.key(fixture.resource() + "/" + i))
                .toArray(Key[]::new);
    }

    private static Key other(Fixture fixture, Key key) {
        return fixture.key(key.resource());
    }

    private static void assertNothingHeld(Fixture fixture, Key... keys) {
        assertThat(keys)
                .allSatisfy(key ->
                        assertThat(fixture.store().find(key)).as(key.resource()).isEqualTo(Optional.empty()));
    }
}

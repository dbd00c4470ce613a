package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Response;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * One key at a time: what {@code save}, {@code delete} and {@code find} of every store must do with exclusive requests.
 */
public interface ExclusionContract extends StoreContract {

    @Test
    default void givenFree_whenFound_thenNothing(Fixture fixture) {
        Key key = fixture.key();

        Optional<Response.Granted> found = fixture.store().find(key);

        assertThat(found).isEmpty();
    }

    @Test
    default void givenFree_whenSaved_thenGrantedExclusively(Fixture fixture) {
        Key key = fixture.key();

        Response response = fixture.store().save(exclusive(key));

        assertThat(granted(response).mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenSaved_whenFound_thenTheSameHold(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted saved = granted(fixture.store().save(exclusive(key)));

        Response.Granted found = fixture.store().find(key).orElseThrow();

        assertThat(found.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(found.fencingToken()).isEqualTo(saved.fencingToken());
        assertThat(found.lease().since().isPresent())
                .isEqualTo(saved.lease().since().isPresent());
    }

    @Test
    default void givenSaved_whenDeleted_thenItWasHeldAndIsGone(Fixture fixture) {
        Key key = fixture.key();
        granted(fixture.store().save(exclusive(key)));

        boolean wasHolder = fixture.store().delete(key);

        assertThat(wasHolder).isTrue();
        assertThat(fixture.store().find(key)).isEmpty();
    }

    @Test
    default void givenDeleted_whenDeletedAgain_thenItWasNotHeld(Fixture fixture) {
        Key key = fixture.key();
        granted(fixture.store().save(exclusive(key)));
        assertThat(fixture.store().delete(key)).isTrue();

        boolean wasHolder = fixture.store().delete(key);

        assertThat(wasHolder).isFalse();
    }

    @Test
    default void givenFree_whenDeleted_thenItWasNotHeld(Fixture fixture) {
        Key key = fixture.key();

        boolean wasHolder = fixture.store().delete(key);

        assertThat(wasHolder).isFalse();
    }

    @Test
    default void givenHeldByOther_whenSaved_thenConflict(Fixture fixture) {
        granted(fixture.store().save(exclusive(fixture.key())));

        Response response = fixture.store().save(exclusive(fixture.key()));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenConflict_whenFound_thenHolderHoldsAndLoserDoesNot(Fixture fixture) {
        Key holder = fixture.key();
        Key loser = fixture.key();
        Response.Granted saved = granted(fixture.store().save(exclusive(holder)));

        Response response = fixture.store().save(exclusive(loser));

        assertThat(response).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().find(loser)).isEmpty();
        assertThat(fixture.store().find(holder).orElseThrow().fencingToken()).isEqualTo(saved.fencingToken());
    }

    @Test
    default void givenConflict_whenLoserDeletes_thenHolderHoldsStill(Fixture fixture) {
        Key holder = fixture.key();
        Key loser = fixture.key();
        granted(fixture.store().save(exclusive(holder)));
        assertThat(fixture.store().save(exclusive(loser))).isInstanceOf(Response.Conflicted.class);

        boolean wasHolder = fixture.store().delete(loser);

        assertThat(wasHolder).isFalse();
        assertThat(fixture.store().find(holder)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenConflict_whenHolderDeletes_thenLoserCanSave(Fixture fixture) {
        Key holder = fixture.key();
        Key loser = fixture.key();
        granted(fixture.store().save(exclusive(holder)));
        assertThat(fixture.store().save(exclusive(loser))).isInstanceOf(Response.Conflicted.class);
        assertThat(fixture.store().delete(holder)).isTrue();

        Response response = fixture.store().save(exclusive(loser));

        assertThat(response).isInstanceOf(Response.Granted.class);
        assertThat(fixture.store().find(holder)).isEmpty();
    }

    @Test
    default void givenManyConflicts_whenHolderDeletes_thenNothingIsLeftBehind(Fixture fixture) {
        Key holder = fixture.key();
        granted(fixture.store().save(exclusive(holder)));
        for (int i = 0; i < 10; i++) {
            assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
        }
        assertThat(fixture.store().delete(holder)).isTrue();

        Response response = fixture.store().save(exclusive(fixture.key()));

        assertThat(response).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenHeld_whenSavedAgain_thenOneDeleteEndsIt(Fixture fixture) {
        Key key = fixture.key();
        Response.Granted first = granted(fixture.store().save(exclusive(key)));
        Response second = fixture.store().save(exclusive(holding(key, first)));
        assertThat(granted(second).mode()).isEqualTo(LockMode.EXCLUSIVE);

        boolean wasHolder = fixture.store().delete(key);

        assertThat(wasHolder).isTrue();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenTwoResources_whenBothSaved_thenBothGranted(Fixture fixture) {
        Key one = fixture.key();
        Key other = fixture.key(fixture.resource() + "-other");
        granted(fixture.store().save(exclusive(one)));

        Response response = fixture.store().save(exclusive(other));

        assertThat(response).isInstanceOf(Response.Granted.class);
    }

    @Test
    default void givenTwoResourcesHeld_whenOneDeleted_thenOtherIsHeldStill(Fixture fixture) {
        Key one = fixture.key();
        Key other = fixture.key(fixture.resource() + "-other");
        granted(fixture.store().save(exclusive(one)));
        granted(fixture.store().save(exclusive(other)));

        assertThat(fixture.store().delete(one)).isTrue();

        assertThat(fixture.store().find(other)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key(other.resource()))))
                .isInstanceOf(Response.Conflicted.class);
    }
}

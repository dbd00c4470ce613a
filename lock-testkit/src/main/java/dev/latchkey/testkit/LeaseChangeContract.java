package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Response;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests with another TTL than that of the hold: longer, or shorter; part of {@link ExpiringStoreContract}. */
public interface LeaseChangeContract extends StoreContract {

    @Test
    @Tag("slow")
    default void givenHeld_whenItsLeaseIsSetShorter_thenItEndsSooner(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key)));

        Response response = fixture.store(ExpiringStore.class)
                .refresh(exclusive(claim, shortTtl()).with(LeaseChange.SET));

        assertThat(granted(response).lease().ttl()).isLessThan(LONG_TTL);
        fixture.awaitExpiry(key);
    }

    /** A5, A18: a late or repeated renewal cut short what its holder, or who was handed the key, believed in. */
    @Test
    @Tag("slow")
    default void givenHeld_whenARenewalWithAShorterTtlComesLate_thenItDoesNotEndSooner(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key)));

        granted(fixture.store(ExpiringStore.class).refresh(exclusive(claim, shortTtl())));

        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());
        assertThat(fixture.store().find(key)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    /** A18: as above, by taking again what is held. */
    @Test
    @Tag("slow")
    default void givenHeld_whenSavedAgainWithAShorterTtl_thenItDoesNotEndSooner(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key)));

        granted(fixture.store().save(exclusive(claim, shortTtl())));

        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());
        assertThat(fixture.store().find(key)).isPresent();
    }

    @Test
    @Tag("slow")
    default void givenShortHold_whenRefreshedWithALongerTtl_thenItEndsLater(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key, Leases.ROOMY_TTL)));

        Response response = fixture.store(ExpiringStore.class).refresh(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Granted.class);
        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);
        assertThat(fixture.store().find(key)).isPresent();
        assertThat(fixture.store().save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    @Tag("slow")
    default void givenShortHold_whenSavedAgainWithALongerTtl_thenItEndsLater(Fixture fixture) {
        Key key = fixture.key();
        Key claim = holding(key, fixture.store().save(exclusive(key, Leases.ROOMY_TTL)));

        Response response = fixture.store().save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Granted.class);
        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);
        assertThat(fixture.store().find(key)).isPresent();
    }
}

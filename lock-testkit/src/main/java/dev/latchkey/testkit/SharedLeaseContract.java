package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.time.Duration;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each reader's hold expires by itself: for a store that is both {@link SharedStore} and {@link ExpiringStore}. */
@ContractFor({SharedStore.class, ExpiringStore.class})
public interface SharedLeaseContract extends SharedStoreContract, ExpiringStoreContract {

    @Test
    @Tag("slow")
    default void givenReadersWithDifferentTtls_whenTheFirstIsOver_thenTheOtherKeepsWritersOut(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key brief = fixture.key();
        Key lasting = fixture.key();
        granted(store.save(shared(lasting)));
        granted(store.save(shared(brief, shortTtl())));

        awaitGone(fixture, brief);

        assertThat(store.find(lasting)).isPresent();
        assertThat(store.save(exclusive(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    @Tag("slow")
    default void givenTheOtherReaderExpired_whenTheLastPromotes_thenExclusive(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key brief = fixture.key();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        granted(store.save(shared(brief, shortTtl())));
        awaitGone(fixture, brief);

        Response.Granted response = awaitGranted(() -> store.save(exclusive(reader)));

        assertThat(response.mode()).isEqualTo(LockMode.EXCLUSIVE);
    }

    @Test
    @Tag("slow")
    default void givenAllReadersExpired_whenWriterSaves_thenGranted(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key first = fixture.key();
        Key second = fixture.key();
        granted(store.save(shared(first, shortTtl())));
        granted(store.save(shared(second, shortTtl())));
        awaitGone(fixture, first);
        awaitGone(fixture, second);

        awaitGranted(() -> store.save(exclusive(fixture.key())));
    }

    /** F36: a refresh brought an expired reader back while another kept the resource in the store. */
    @Test
    @Tag("slow")
    default void givenReaderExpiredWhileAnotherReads_whenRefreshed_thenLost(Fixture fixture) {
        PersistingStore store = fixture.store();
        granted(store.save(shared(fixture.key())));
        Key brief = fixture.key();
        Key claim = holding(brief, store.save(shared(brief, shortTtl())));
        awaitGone(fixture, brief);

        Response response = fixture.store(ExpiringStore.class).refresh(shared(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(store.find(brief)).isEmpty();
    }

    @Test
    @Tag("slow")
    default void givenReaders_whenOneIsRefreshed_thenTheOtherEndsInItsOwnTime(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key brief = fixture.key();
        granted(store.save(shared(brief, shortTtl())));
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));

        Response response = fixture.store(ExpiringStore.class).refresh(shared(reader, LONG_TTL.multipliedBy(2)));

        assertThat(granted(response).mode()).isEqualTo(LockMode.SHARED);
        awaitGone(fixture, brief);
        assertThat(store.find(key)).isPresent();
    }

    @Test
    @Tag("slow")
    default void givenSharedHoldExpired_whenPromoted_thenLostAndNothingTaken(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key claim = holding(key, store.save(shared(key, shortTtl())));
        awaitGone(fixture, key);

        Response response = store.save(exclusive(claim));

        assertThat(response).isInstanceOf(Response.Lost.class);
        assertThat(store.find(key)).isEmpty();
    }

    @Test
    @Tag("slow")
    default void givenPromotedOrDemoted_whenTheNewTtlIsOver_thenGone(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));
        Key writer = holding(key, store.save(exclusive(reader, LONG_TTL)));

        granted(store.save(shared(writer, shortTtl()).with(LeaseChange.SET)));

        awaitGone(fixture, key);
        fixture.takeOver(fixture.key());
    }

    @Test
    @Tag("slow")
    default void givenHeldShortly_whenPromotedWithALongerTtl_thenItEndsLater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key, Leases.ROOMY_TTL)));

        granted(store.save(exclusive(reader)));

        LeaseContract.awaitThatATtlIsOver(fixture, Leases.ROOMY_TTL);
        assertThat(store.find(key)).isPresent();
    }

    /**
     * A promotion never shortens the lease: when its answer is lost, the holder goes on to believe in the shared hold until
     * that one's end, and must be right.
     */
    @Test
    @Tag("slow")
    default void givenHeldLong_whenPromotedWithAShorterTtl_thenItDoesNotEndSooner(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));

        granted(store.save(exclusive(reader, shortTtl())));

        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());
        assertThat(store.find(key)).isPresent();
    }

    /** What is gone for who looks may be there a little longer at one of several members. */
    private static Response.Granted awaitGranted(Supplier<Response> save) {
        return granted(Awaitility.await("a hold to expire everywhere")
                .pollInterval(Duration.ofMillis(10))
                .atMost(TimeLimits.LIMIT)
                .until(save::get, Response.Granted.class::isInstance));
    }

    private static void awaitGone(Fixture fixture, Key key) {
        Awaitility.await("a hold to expire")
                .pollInterval(Duration.ofMillis(10))
                .atMost(TimeLimits.LIMIT)
                .until(() -> fixture.store().find(key).isEmpty());
    }
}

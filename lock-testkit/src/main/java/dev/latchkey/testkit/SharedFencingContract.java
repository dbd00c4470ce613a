package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import org.junit.jupiter.api.Test;

/** Only exclusive holds have fencing tokens: for a {@link SharedStore} that mints them. */
@ContractFor(value = SharedStore.class, with = FencingContract.class)
public interface SharedFencingContract extends SharedStoreContract, FencingContract {

    @Test
    default void givenReader_whenAskedForItsToken_thenNone(Fixture fixture) {
        Key key = fixture.key();

        Response.Granted granted = granted(fixture.store().save(shared(key)));

        assertThat(granted.fencingToken()).isEmpty();
        assertThat(fixture.store().find(key).orElseThrow().fencingToken()).isEmpty();
    }

    @Test
    default void givenAHoldBefore_whenAReaderPromotes_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key before = fixture.key();
        long first = token(store.save(exclusive(before)));
        assertThat(store.delete(before)).isTrue();
        Key key = fixture.key();
        Key reader = holding(key, store.save(shared(key)));

        long second = token(store.save(exclusive(reader)));

        assertThat(second).isGreaterThan(first);
    }

    @Test
    default void givenWriter_whenDemotedAndPromotedAgain_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Response.Granted first = granted(store.save(exclusive(key)));
        Response.Granted demoted = granted(store.save(shared(holding(key, first))));
        assertThat(demoted.fencingToken()).isEmpty();

        long second = token(store.save(exclusive(holding(key, demoted))));

        assertThat(second).isGreaterThan(first.fencingToken().orElseThrow());
    }

    /** A demotion that comes late must not end what was promoted after it. */
    @Test
    default void givenDemotedAndPromotedAgain_whenDemotedWithTheTokenBefore_thenLostAndItWritesStill(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        Key before = holding(key, store.save(exclusive(key)));
        Key demoted = holding(key, store.save(shared(before)));
        Response.Granted again = granted(store.save(exclusive(demoted)));

        Response response = store.save(shared(before));

        assertThat(response).isInstanceOf(Response.Lost.class);
        Response.Granted found = store.find(key).orElseThrow();
        assertThat(found.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(found.fencingToken()).isEqualTo(again.fencingToken());
        assertThat(store.save(shared(fixture.key()))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    default void givenPromoted_whenTheNextHolds_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        long promoted = token(store.save(exclusive(holding(key, store.save(shared(key))))));
        assertThat(store.delete(key)).isTrue();

        long next = token(store.save(exclusive(fixture.key())));

        assertThat(next).isGreaterThan(promoted);
    }

    @Test
    default void givenLock_whenItSharesPromotesAndDemotes_thenItShowsATokenWhileExclusive(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(lock.fencingToken()).isEmpty();

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingToken()).isPresent();

        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(lock.fencingToken()).isEmpty();
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who takes over an expired lock has the greater number: for an {@link ExpiringStore} that mints fencing tokens. */
@ContractFor(value = ExpiringStore.class, with = FencingContract.class)
public interface ExpiringFencingContract extends ExpiringStoreContract, FencingContract {

    @Test
    @Tag("slow")
    default void givenExpired_whenAnotherHolds_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        long first = granted(store.save(exclusive(fixture.key(), shortTtl())))
                .fencingToken()
                .orElseThrow();
        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());

        long second =
                granted(store.save(exclusive(fixture.key()))).fencingToken().orElseThrow();

        assertThat(second).isGreaterThan(first);
    }

    @Test
    @Tag("slow")
    default void givenExpired_whenTheSameKeyHoldsAnew_thenItsTokenIsGreater(Fixture fixture) {
        PersistingStore store = fixture.store();
        Key key = fixture.key();
        long first =
                granted(store.save(exclusive(key, shortTtl()))).fencingToken().orElseThrow();
        LeaseContract.awaitThatATtlIsOver(fixture, shortTtl());

        long second = granted(store.save(exclusive(key))).fencingToken().orElseThrow();

        assertThat(second).isGreaterThan(first);
    }

    @Test
    default void givenHeld_whenRefreshedWithAnotherTtl_thenTheTokenStays(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        OptionalLong token = lock.fencingToken();

        lock.refresh(Fixture.LONG_TTL.dividedBy(2));

        assertThat(lock.fencingToken()).isEqualTo(token).isPresent();
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.UnfencedStore;
import org.junit.jupiter.api.Test;

/** For a store that cannot mint sound fencing tokens: it never pretends to. */
@ContractFor(UnfencedStore.class)
public interface UnfencedContract extends StoreContract {

    @Test
    default void givenHeld_whenAskedForItsToken_thenNone(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh();

        assertThat(lock.fencingToken()).isEmpty();
    }
}

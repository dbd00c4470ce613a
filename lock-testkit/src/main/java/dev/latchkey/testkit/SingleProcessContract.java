package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import org.junit.jupiter.api.Test;

/** For a store that lives in one object of one JVM: even the same DSN opened twice is two worlds. */
public interface SingleProcessContract extends StoreContract {

    /**
     * Returns what opens a store of this kind.
     *
     * @return for {@link LockFactory#connect(String)}
     */
    String dsnOfItsKind();

    @Test
    default void givenConnectedTwice_whenOneHolds_thenTheOtherIsFree(Fixture fixture) {
        LockFactory one = fixture.closing(LockFactory.connect(dsnOfItsKind()));
        LockFactory other = fixture.closing(LockFactory.connect(dsnOfItsKind()));
        assertThat(one.createLock(fixture.resource(), LONG_TTL).tryAcquire()).isTrue();

        boolean acquired = other.createLock(fixture.resource(), LONG_TTL).tryAcquire();

        assertThat(acquired).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }
}

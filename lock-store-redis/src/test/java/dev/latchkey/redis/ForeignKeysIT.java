package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockStorageException;
import dev.latchkey.semaphore.Semaphore;
import dev.latchkey.spi.ListedResource;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Keys of somebody else with names like ours. */
class ForeignKeysIT extends WithAStore {

    /** One of them was enough, and nobody saw any lock any more. */
    @Test
    void givenForeignKeys_whenListed_thenOnlyTheLocks() {
        server.call("SET", "lock:{foreign text}", "hello");
        server.call("LPUSH", "lock:{foreign list}", "hello");
        assertThat(locks.createLock("ours", LONG_TTL).tryAcquire()).isTrue();

        assertThat(locks.list("", Optional.empty(), 100).resources())
                .extracting(ListedResource::resource)
                .containsExactly("ours");
        assertThatThrownBy(() -> locks.holders("foreign text")).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> locks.holders("foreign list")).isInstanceOf(LockStorageException.class);
    }

    @Test
    void givenAForeignKey_whenPermitsAreAskedFor_thenAFailureAndItStaysAsItIs() {
        server.call("SET", "lock:{foreign}:s", "hello");
        Semaphore semaphore = locks.semaphore("foreign", 2).create();

        assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(semaphore::acquire).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(semaphore::holders).isInstanceOf(LockStorageException.class);

        assertThat(server.text("GET", "lock:{foreign}:s")).isEqualTo("hello");
    }
}

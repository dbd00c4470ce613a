package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.UnserializableKeyException;
import dev.latchkey.spi.ProcessBound;
import java.io.ByteArrayOutputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

/**
 * Keys refuse to travel, and say why: for a {@link ProcessBound} store, whose holds end with the process. All others join
 * {@link HandoverContract}.
 */
@ContractFor(ProcessBound.class)
public interface ProcessBoundContract extends StoreContract {

    @Test
    default void givenStore_whenAskedWhyItsKeysStay_thenAReason(Fixture fixture) {
        String reason = fixture.store(ProcessBound.class).reason();

        assertThat(reason).isNotBlank();
    }

    @Test
    default void givenHeld_whenItsKeyIsSerialized_thenRefusedWithTheReason(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        Key key = lock.key();

        assertThatThrownBy(key::serialize)
                .isInstanceOf(UnserializableKeyException.class)
                .hasMessageContaining(fixture.resource())
                .hasMessageContaining(fixture.store(ProcessBound.class).reason());
    }

    @Test
    default void givenHeld_whenItsKeyIsWrittenToAStream_thenRefused(Fixture fixture) throws Exception {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        Key key = lock.key();

        try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
            assertThatThrownBy(() -> out.writeObject(key)).isInstanceOf(UnserializableKeyException.class);
        }
    }

    @Test
    default void givenNeverAcquired_whenItsKeyIsSerialized_thenRefused(Fixture fixture) {
        Key key = fixture.lock().key();

        assertThatThrownBy(key::serialize).isInstanceOf(UnserializableKeyException.class);
    }

    /** F31: a key acquired by waiting could be serialized. */
    @Test
    default void givenWaitedFor_whenItsKeyIsSerialized_thenRefused(Fixture fixture) throws Exception {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquire);
        assertThat(holder.release()).isTrue();
        Key key = fixture.woken(waiting).key();

        assertThatThrownBy(key::serialize).isInstanceOf(UnserializableKeyException.class);
    }

    @Test
    default void givenHandedOver_whenItsKeyIsSerialized_thenRefused(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        Key key = lock.transferKey();

        assertThatThrownBy(key::serialize).isInstanceOf(UnserializableKeyException.class);

        assertThat(fixture.lock(key).release()).isTrue();
    }
}

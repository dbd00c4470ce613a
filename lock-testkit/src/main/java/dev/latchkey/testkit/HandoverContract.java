package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.spi.PersistingStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Keys travel: serialized here, they own the lock in another process. For every store that is not
 * {@link dev.latchkey.spi.ProcessBound}.
 */
@ContractFor(value = PersistingStore.class, unless = ProcessBoundContract.class)
public interface HandoverContract extends ProcessesContract {

    @Test
    @Tag("slow")
    default void givenHeldHere_whenTheKeyTravels_thenTheOtherProcessOwnsIt(Fixture fixture) {
        Lock giver = fixture.lock();
        assertThat(giver.tryAcquire()).isTrue();
        long token = giver.fencingToken().orElse(0);
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock owner = other.lock(giver.transferKey(), LONG_TTL);
            assertThat(owner.isExpired()).isTrue();

            owner.refresh();

            assertThat(owner.isAcquired()).isTrue();
            assertThat(owner.isExpired()).isFalse();
            assertThat(owner.fencingToken().orElse(0)).isEqualTo(token);
            assertThat(fixture.lock().tryAcquire()).isFalse();
            assertThat(owner.release()).isTrue();
            assertThat(fixture.lock().tryAcquire()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenHeldInAnotherProcess_whenTheKeyTravels_thenItIsOwnedHere(Fixture fixture) {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock giver = other.lock(fixture.resource(), LONG_TTL);
            assertThat(giver.tryAcquire()).isTrue();

            Lock owner = fixture.lock(giver.transferKey());

            assertThat(owner.isAcquired()).isTrue();
            assertThat(giver.isAcquired()).isFalse();
            assertThat(giver.release()).isFalse();
            assertThat(giver.tryAcquire()).isFalse();
            assertThat(owner.release()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenHandedOver_whenTheGiverEnds_thenTheNewOwnerHolds(Fixture fixture) {
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock giver = other.lock(fixture.resource(), LONG_TTL);
            assertThat(giver.tryAcquire()).isTrue();
            Lock owner = fixture.lock(giver.transferKey());

            assertThat(other.exit()).isZero();

            assertThat(owner.isAcquired()).isTrue();
            assertThat(fixture.lock().tryAcquire()).isFalse();
            assertThat(owner.release()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    default void givenKeyTravelled_whenReleasedThere_thenItIsLostHere(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock same = other.lock(holder.key(), LONG_TTL);

            assertThat(same.release()).isTrue();

            assertThat(holder.isAcquired()).isFalse();
            assertThat(holder.release()).isFalse();
        }
    }

    @Test
    @Tag("slow")
    default void givenKeyOfAReleasedLock_whenUsedElsewhere_thenItProvesNothing(Fixture fixture) {
        Lock giver = fixture.lock();
        assertThat(giver.tryAcquire()).isTrue();
        Key key = giver.key();
        assertThat(giver.release()).isTrue();
        try (SecondProcess other = SecondProcess.connect(dsn())) {
            RemoteLock late = other.lock(key, LONG_TTL);

            assertThat(late.isAcquired()).isFalse();

            assertThatThrownBy(late::refresh).isInstanceOf(RemoteFailure.class);
            assertThat(late.release()).isFalse();
            assertThat(fixture.lock().tryAcquire()).isTrue();
        }
    }

    @Test
    default void givenHeld_whenItsKeyIsWrittenToAStream_thenWhatIsReadOwnsTheLock(Fixture fixture) throws Exception {
        Lock giver = fixture.lock();
        assertThat(giver.tryAcquire()).isTrue();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(giver.transferKey());
        }

        Key read;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            read = (Key) in.readObject();
        }

        assertThat(fixture.lock(read).release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenHeld_whenItsKeyIsSerialized_thenTheTextIsShortAndHasNoPlainToken(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();

        String text = holder.key().serialize();

        assertThat(text).matches("[A-Za-z0-9._-]+").hasSizeLessThan(200);
        assertThat(Key.deserialize(text)).isEqualTo(holder.key());
        assertThat(holder.key().toString()).doesNotContain(holder.key().token());
        assertThat(holder.toString()).doesNotContain(holder.key().token());
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sharing with a {@link Lock}; part of {@link SharedStoreContract}. */
public interface SharedOwnershipContract extends PromotionContract {

    @Test
    default void givenReader_whenOtherTriesToRead_thenBothHold(Fixture fixture) {
        Lock first = reader(fixture);

        boolean acquired = fixture.lock().tryAcquireShared();

        assertThat(acquired).isTrue();
        assertThat(first.isAcquired()).isTrue();
    }

    @Test
    default void givenReader_whenOtherTriesToWrite_thenFalse(Fixture fixture) {
        Lock reader = reader(fixture);

        boolean acquired = fixture.lock().tryAcquire();

        assertThat(acquired).isFalse();
        assertThat(reader.isAcquired()).isTrue();
    }

    @Test
    default void givenWriter_whenOtherTriesToRead_thenFalse(Fixture fixture) {
        assertThat(fixture.lock().tryAcquire()).isTrue();

        boolean acquired = fixture.lock().tryAcquireShared();

        assertThat(acquired).isFalse();
    }

    @Test
    default void givenReader_whenAcquiredSharedAgain_thenOneReleaseEndsIt(Fixture fixture) {
        Lock lock = reader(fixture);
        assertThat(lock.tryAcquireShared()).isTrue();

        assertThat(lock.release()).isTrue();

        assertThat(lock.isAcquired()).isFalse();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenReader_whenRefreshed_thenItReadsStill(Fixture fixture) {
        Lock lock = reader(fixture);

        lock.refresh();

        assertThat(mode(lock)).contains(LockMode.SHARED);
        assertThat(fixture.lock().tryAcquireShared()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenReader_whenHandedOver_thenTheNewOwnerReads(Fixture fixture) {
        Lock giver = reader(fixture);

        Lock owner = fixture.lock(giver.transferKey());

        assertThat(giver.isAcquired()).isFalse();
        assertThat(owner.isAcquired()).isTrue();
        assertThat(mode(owner)).contains(LockMode.SHARED);
        assertThat(owner.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    default void givenReadersWait_whenTheWriterReleases_thenAllRead(Fixture fixture) throws Exception {
        Lock writer = fixture.lock();
        assertThat(writer.tryAcquire()).isTrue();
        List<BackgroundCall<Lock>> reading = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            reading.add(fixture.startWaiting(fixture.lock()::acquireShared));
        }

        assertThat(writer.release()).isTrue();

        for (BackgroundCall<Lock> reader : reading) {
            assertThat(fixture.woken(reader).isAcquired()).isTrue();
        }
        assertThat(fixture.lock().tryAcquire()).isFalse();
    }

    @Test
    default void givenWriterWaits_whenAllReadersRelease_thenItWrites(Fixture fixture) throws Exception {
        Lock first = reader(fixture);
        Lock second = reader(fixture);
        BackgroundCall<Lock> writing = fixture.startWaiting(fixture.lock()::acquire);
        assertThat(first.release()).isTrue();
        assertThat(writing.isDone()).isFalse();

        assertThat(second.release()).isTrue();

        assertThat(mode(fixture.woken(writing))).contains(LockMode.EXCLUSIVE);
    }

    @Test
    default void givenSharedKey_whenAdopted_thenItIsTheSameReader(Fixture fixture) {
        Lock reader = reader(fixture);
        Lock adopted = fixture.lock(reader.key());

        assertThat(adopted.isAcquired()).isTrue();

        assertThat(mode(adopted)).contains(LockMode.SHARED);
        assertThat(adopted.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenReadersAndWriters_whenTheyRunAtOnce_thenWritersAreAlone(Fixture fixture) throws Exception {
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        AtomicInteger violations = new AtomicInteger();
        List<BackgroundCall<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(fixture.start(() -> {
                for (int hold = 0; hold < 40; hold++) {
                    Lock lock = fixture.lock();
                    if (ThreadLocalRandom.current().nextInt(3) == 0) {
                        lock.acquire();
                        violations.addAndGet(writers.getAndIncrement() + readers.get());
                        violations.addAndGet(writers.decrementAndGet() + readers.get());
                        if (!lock.tryAcquireShared()) {
                            violations.incrementAndGet();
                        }
                    } else {
                        lock.acquireShared();
                    }
                    readers.incrementAndGet();
                    violations.addAndGet(writers.get());
                    readers.decrementAndGet();
                    if (!lock.release()) {
                        violations.incrementAndGet();
                    }
                }
                return true;
            }));
        }

        for (BackgroundCall<Boolean> call : calls) {
            assertThat(call.result()).isTrue();
        }

        assertThat(violations).hasValue(0);
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    private static Lock reader(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquireShared()).isTrue();
        return lock;
    }

    private static Optional<LockMode> mode(Lock lock) {
        return lock.key().held().map(Key.Held::mode);
    }
}

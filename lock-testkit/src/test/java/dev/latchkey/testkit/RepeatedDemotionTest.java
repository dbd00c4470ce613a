package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A demotion that was not answered, and is asked for again: other readers get in, whether the first one took effect or not. */
class RepeatedDemotionTest {

    private static final Duration TTL = Duration.ofMinutes(1);

    @Test
    void givenADemotionThatDidNotArrive_whenRepeated_thenOthersMayRead() {
        FaultyStore store = new FaultyStore(new InMemoryStore());
        Lock lock = exclusive(store);
        store.next(SAVE, Fault.unreachable());

        assertDemotedByTheSecondRequest(lock, store);
    }

    @Test
    void givenADemotionWhoseReplyWasLost_whenRepeated_thenOthersMayRead() {
        FaultyStore store = new FaultyStore(new InMemoryStore());
        Lock lock = exclusive(store);
        store.next(SAVE, Fault.replyLost());

        assertDemotedByTheSecondRequest(lock, store);
    }

    @Test
    void givenADemotionThatWasNotSent_whenRepeated_thenOthersMayRead() {
        FaultyStore store = new FaultyStore(new InMemoryStore());
        Lock lock = exclusive(store);
        store.next(SAVE, Fault.failing(LockStorageException.Failure.NOT_SENT));

        assertDemotedByTheSecondRequest(lock, store);
    }

    @Test
    void givenADemotionThatMostMembersDidNotGet_whenRepeated_thenOthersMayRead() {
        List<FaultyStore> members = Stream.generate(() -> new FaultyStore(new InMemoryStore()))
                .limit(3)
                .toList();
        CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TimeLimits.LIMIT);
        Lock lock = exclusive(store);
        members.subList(0, 2).forEach(member -> member.next(SAVE, Fault.unreachable()));

        assertDemotedByTheSecondRequest(lock, store);
        assertThat(lock.isAcquired()).isTrue();
    }

    private static Lock exclusive(PersistingStore store) {
        Lock lock = new LockFactory(store).createLock("catalogue", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }

    private static void assertDemotedByTheSecondRequest(Lock lock, PersistingStore store) {
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(lock::tryAcquireShared);

        assertThat(lock.tryAcquireShared()).isTrue();

        granted(store.save(shared(Key.of("catalogue"))));
        assertThat(lock.tryAcquireShared()).isTrue();
    }
}

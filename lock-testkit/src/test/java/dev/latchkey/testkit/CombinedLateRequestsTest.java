package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.FIND;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The third member does not answer what gives something up, which comes there when the same key holds anew; the second is
 * away for a while. Nobody but the holder may find two members free then.
 */
class CombinedLateRequestsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Not over before the test has asked again. */
    private static final Duration SHORT = Duration.ofSeconds(10);

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TIMEOUT);
    private final LockFactory locks = new LockFactory(store);
    private final Key key = Key.of("x");
    private final Key rival = Key.of("x");

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        locks.close();
        store.close();
    }

    @Test
    void givenGivenBackWithoutAnAnswer_whenTakenAgain_thenThatMemberIsNotCountedOn() {
        refusedAtTwo(() -> assertThat(store.save(exclusive(key))).isInstanceOf(Response.Conflicted.class));
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(key)));

        assertThat(memories.get(2).find(key)).isEmpty();
    }

    @Test
    void givenGivenBackWithoutAnAnswer_whenTheLockIsTakenAgain_thenALateDeleteEndsNoPartOfIt() {
        try (Lock lock = locks.lock("x").create()) {
            refusedAtTwo(() -> assertThat(lock.tryAcquire()).isFalse());
            Key spent = lastOfThird();
            secondIsAway();

            assertThat(lock.tryAcquire()).isTrue();
            memories.get(2).delete(spent);
            members.get(1).heal();

            assertThat(store.save(exclusive(rival))).isInstanceOf(Response.Conflicted.class);
        }
    }

    @Test
    void givenReleasedWithoutAnAnswerOfOne_whenTheLockIsTakenAgain_thenALateDeleteEndsNoPartOfIt() {
        try (Lock lock = locks.lock("x").create()) {
            assertThat(lock.tryAcquire()).isTrue();
            members.get(2).next(DELETE, Fault.unreachable());
            assertThat(lock.release()).isTrue();
            Key spent = lastOfThird();
            // The release did not wait for the third member.
            await().until(() -> store.isSpent(spent));
            memories.get(2).delete(spent);
            secondIsAway();

            assertThat(lock.tryAcquire()).isTrue();
            memories.get(2).delete(spent);
            members.get(1).heal();

            assertThat(store.save(exclusive(rival))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /** It would be brought back into the hold, and counted on when another member is lost. */
    @Test
    void givenGivenBackWithoutAnAnswer_whenHeldByTheOthers_thenThatMemberIsNotBroughtBack() {
        refusedAtTwo(() -> assertThat(store.save(exclusive(key))).isInstanceOf(Response.Conflicted.class));
        Response.Granted saved = granted(store.save(exclusive(key)));

        granted(store.refresh(exclusive(holding(key, saved))));
        granted(store.refresh(exclusive(holding(key, saved))));

        secondIsAway();
        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.refresh(exclusive(holding(key, saved))));
        assertThat(memories.get(2).find(key)).isEmpty();
    }

    @Test
    void givenShortenedWithoutAnAnswer_whenExtended_thenThatMemberIsNotCountedOn() {
        Key held = holding(key, granted(store.save(exclusive(key))));
        members.get(2).next(REFRESH, Fault.unreachable());
        granted(store.refresh(new Request(held, LockMode.EXCLUSIVE, SHORT, RetryIntent.ONCE, LeaseChange.SET)));
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.refresh(exclusive(held)));

        assertThat(store.delete(held)).isTrue();
    }

    /** What asks for a shared hold demotes an exclusive one that the same key has when it comes there. */
    @Test
    void givenAskedForSharedWithoutAnAnswer_whenPromoted_thenThatMemberIsNotCountedOn() {
        Key held = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).next(SAVE, Fault.unreachable());
        granted(store.save(shared(held)));
        Key late = lastOfThird();
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(held)));

        members.get(1).heal();
        granted(store.save(exclusive(held)));
        granted(memories.get(2).save(shared(late)));
        assertThat(store.save(shared(rival))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    void givenTakenSharedWithoutAnAnswerOfOne_whenTheLockIsTakenExclusively_thenALateRequestDemotesNoPartOfIt() {
        try (Lock lock = locks.lock("x").create()) {
            members.get(2).next(SAVE, Fault.unreachable());
            assertThat(lock.tryAcquireShared()).isTrue();
            Key late = lastOfThird();
            await().until(() -> store.isSpent(late));
            assertThat(lock.release()).isTrue();
            secondIsAway();

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lock.key()).isNotEqualTo(late);
            assertThat(lock.release()).isTrue();
        }
    }

    private void refusedAtTwo(Runnable attempt) {
        members.get(2).next(SAVE, Fault.unreachable());
        granted(store.save(exclusive(rival)));
        await().until(() -> asksOfThird(SAVE).findAny().isPresent());
        members.get(2).next(DELETE, Fault.unreachable());
        attempt.run();
        Key refused = lastOfThird();
        await().until(() -> store.isSpent(refused));
        assertThat(store.delete(rival)).isTrue();
        memories.get(2).delete(refused);
    }

    private void secondIsAway() {
        for (FaultyStore.Operation operation : List.of(SAVE, REFRESH, FIND)) {
            members.get(1).always(operation, Fault.unreachable());
        }
    }

    /** Two members are enough for an answer: the third may be asked after that. */
    private Key lastOfThird() {
        return await().until(
                        () -> asksOfThird(SAVE)
                                .filter(asked -> !asked.equals(rival))
                                .reduce((before, last) -> last),
                        Optional::isPresent)
                .orElseThrow();
    }

    private Stream<Key> asksOfThird(FaultyStore.Operation operation) {
        return members.get(2).calls().stream()
                .filter(call -> call.operation() == operation)
                .map(FaultyStore.Call::key);
    }
}

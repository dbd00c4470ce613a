package dev.latchkey.testkit;

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
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * No member keeps a token that tells one hold from another, and the third does not answer what asks to share: it is not counted
 * on for an exclusive hold when the second is away, for it may let a reader in.
 */
class CombinedWithoutTokensTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store =
            new CombinedStore(members.stream().map(Unfenced::new).toList(), new ConsensusStrategy(), TIMEOUT);
    private final Key key = Key.of("x");
    private final Key rival = Key.of("x");

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
    }

    @Test
    void givenSharedWithoutAnAnswer_whenPromotedAndRefreshedWithoutAnother_thenThatIsNotEnough() {
        members.get(2).next(SAVE, Fault.replyLost());
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> store.isSpent(key));
        Key held = holding(key, granted(store.save(exclusive(reads))));
        assertThat(modeAtThird()).isEqualTo(LockMode.SHARED);
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.refresh(exclusive(held)));
    }

    @Test
    void givenDemotedWithoutAnAnswer_whenPromotedWithoutAnother_thenThatIsNotEnough() {
        Key reads = demotedWithoutAnAnswer();
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));
    }

    @Test
    void givenDemotedWithoutAnAnswer_whenPromotedAndRefreshedWithoutAnother_thenThatIsNotEnough() {
        Key held = holding(key, granted(store.save(exclusive(demotedWithoutAnAnswer()))));
        assertThat(modeAtThird()).isEqualTo(LockMode.EXCLUSIVE);
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.refresh(exclusive(held)));
    }

    /** A member demotes only what is claimed with its own token. */
    @Test
    void givenExclusive_whenDemoted_thenReadersGetIn() {
        Key writes = holding(key, granted(store.save(exclusive(key))));

        granted(store.save(shared(writes)));

        granted(store.save(shared(rival)));
    }

    /** As at a single store: only what claims the exclusive hold demotes it. */
    @Test
    void givenTooFewAnsweredADemotion_whenItIsRepeated_thenReadersGetIn() {
        Key writes = holding(key, granted(store.save(exclusive(key))));
        await().until(() ->
                memories.stream().allMatch(memory -> memory.find(key).isPresent()));
        Stream.of(1, 2).forEach(number -> members.get(number).next(SAVE, Fault.unreachable()));
        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(shared(writes)));

        granted(store.save(shared(writes)));

        granted(store.save(shared(rival)));
    }

    @Test
    void givenOneGrantsLate_whenDemotedBeforeThat_thenItIsSharedThereToo() throws Exception {
        Pause way = new Pause();
        members.get(2).next(SAVE, Fault.pausedBefore(way));
        Key writes = holding(key, granted(store.save(exclusive(key))));
        way.awaitReached();
        granted(store.save(shared(writes)));

        way.end();

        await().until(() -> memories.get(2).find(key).isPresent() && modeAtThird() == LockMode.SHARED);
    }

    /** As a second Lock over the same key asks, which claims less than is held. */
    @Test
    void givenDemotedWithoutAnAnswerAndPromoted_whenRefreshedAsSharedWithoutAnother_thenItIsNotToldToBeExclusive() {
        Key reads = demotedWithoutAnAnswer();
        granted(store.save(exclusive(reads)));
        secondIsAway();

        assertThat(granted(store.refresh(shared(reads))).mode()).isEqualTo(LockMode.SHARED);
    }

    /** What is shared is kept, whatever becomes of the demotion. */
    @Test
    void givenDemotedWithoutAnAnswer_whenRefreshedWithoutAnother_thenItIsHeldOn() {
        Key reads = demotedWithoutAnAnswer();
        secondIsAway();

        granted(store.refresh(shared(reads)));
    }

    @Test
    void givenPutBackToSharedWithoutAnAnswer_whenPromotedWithoutAnother_thenThatIsNotEnough() {
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        Stream.of(0, 1).forEach(number -> granted(memories.get(number).save(shared(rival))));
        members.get(2).next(SAVE, Fault.none(), Fault.unreachable(), Fault.unreachable());
        assertThat(store.save(exclusive(reads))).isInstanceOf(Response.Conflicted.class);
        await().until(() -> store.isSpent(key));
        assertThat(modeAtThird()).isEqualTo(LockMode.EXCLUSIVE);
        Stream.of(0, 1).forEach(number -> memories.get(number).delete(rival));
        members.get(2).heal();
        secondIsAway();

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.save(exclusive(reads)));
    }

    private Key demotedWithoutAnAnswer() {
        Key held = holding(key, granted(store.save(exclusive(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).next(SAVE, Fault.unreachable());
        Key reads = holding(key, granted(store.save(shared(held))));
        await().until(() ->
                members.get(2).operations().stream().filter(SAVE::equals).count() == 2);
        return reads;
    }

    private void secondIsAway() {
        for (FaultyStore.Operation operation : List.of(SAVE, REFRESH, FIND)) {
            members.get(1).always(operation, Fault.unreachable());
        }
    }

    private LockMode modeAtThird() {
        return memories.get(2).find(key).orElseThrow().mode();
    }
}

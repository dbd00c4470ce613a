package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.DELETE;
import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.FaultyStore.Operation.SAVE;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
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

/** Fencing tokens of a quorum when its members come and go. */
class CombinedTokensTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy(), TIMEOUT);
    private final CombinedStore elsewhere = new CombinedStore(memories, new ConsensusStrategy(), TIMEOUT);
    private final Key key = Key.of("x");
    private final Key rival = Key.of("x");

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
        elsewhere.close();
    }

    /** A17: the token of the hold before was given again, after a rival had got and given back a greater one. */
    @Test
    void givenARivalHeldItMeanwhile_whenAPartOfTheOldHoldIsLeft_thenTheTokenIsGreaterThanTheRivals() {
        members.get(2).always(SAVE, Fault.unreachable());
        Response.Granted first = granted(store.save(exclusive(key)));
        members.get(1).always(REFRESH, Fault.unreachable()).always(SAVE, Fault.unreachable());
        members.get(2).always(REFRESH, Fault.unreachable());
        assertThatExceptionOfType(LockStorageException.class)
                .isThrownBy(() -> store.refresh(exclusive(holding(key, first))));
        // Its lease there was not refreshed, and ends.
        assertThat(memories.get(1).delete(key)).isTrue();
        long between = token(granted(elsewhere.save(exclusive(rival))));
        assertThat(elsewhere.delete(rival)).isTrue();
        await().until(() -> memories.get(2).find(rival).isEmpty());
        members.get(2).heal();

        long again = token(granted(store.save(exclusive(key))));

        assertThat(between).isGreaterThan(token(first));
        assertThat(again).isGreaterThan(between);
    }

    /** Two Locks over one key are one owner: the second renews what the first holds. */
    @Test
    void givenHeld_whenSavedAgainByTheSameKey_thenTheTokenStays() {
        long first = token(granted(store.save(exclusive(key))));
        members.get(0).always(SAVE, Fault.unreachable()).always(DELETE, Fault.unreachable());

        assertThat(token(granted(store.save(exclusive(key))))).isEqualTo(first);
    }

    private static long token(Response.Granted granted) {
        return granted.fencingToken().orElseThrow();
    }
}

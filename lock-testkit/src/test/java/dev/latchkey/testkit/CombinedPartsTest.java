package dev.latchkey.testkit;

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
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The third member was not there for a promotion: what it has is shared, and lets a reader in. */
class CombinedPartsTest {

    private final List<InMemoryStore> memories =
            Stream.generate(InMemoryStore::new).limit(3).toList();
    private final List<FaultyStore> members =
            memories.stream().map(FaultyStore::new).toList();
    private final CombinedStore store = new CombinedStore(members, new ConsensusStrategy());
    private final Key key = Key.of("x");
    private Key held = key;
    private Response.Granted promoted;

    @BeforeEach
    void promoteAtTwo() {
        Key reads = holding(key, granted(store.save(shared(key))));
        await().until(() -> memories.get(2).find(key).isPresent());
        members.get(2).next(SAVE, Fault.failing(LockStorageException.Failure.NOT_SENT));
        promoted = granted(store.save(exclusive(reads)));
        held = holding(key, promoted);
        assertThat(modeAtThird()).isEqualTo(LockMode.SHARED);
    }

    @AfterEach
    void close() {
        members.forEach(FaultyStore::heal);
        store.close();
    }

    @Test
    void givenOnlySharedAtOne_whenRefreshedWithoutAnother_thenThatIsNotEnough() {
        members.get(1).always(REFRESH, Fault.unreachable());

        assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> store.refresh(exclusive(held)));
    }

    /** Of what members have of it, whoever the key was given to knows nothing but what they answer. */
    @Test
    void givenOnlySharedAtOne_whenRefreshedElsewhereWithoutAnother_thenThatIsNotEnough() {
        members.get(1).always(REFRESH, Fault.unreachable());
        try (CombinedStore elsewhere = new CombinedStore(members, new ConsensusStrategy())) {
            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> elsewhere.refresh(exclusive(held)));
        }
    }

    /** Members without durable tokens are not asked for one. */
    @Test
    void givenOnlySharedAtOne_whenRefreshedElsewhereWithoutTokens_thenThatIsNotEnough() {
        List<Unfenced> unfenced = memories.stream().map(Unfenced::new).toList();
        try (CombinedStore elsewhere = new CombinedStore(unfenced, new ConsensusStrategy())) {
            unfenced.get(1).isAway = true;
            assertThatExceptionOfType(LockStorageException.class).isThrownBy(() -> elsewhere.refresh(exclusive(held)));

            unfenced.get(1).isAway = false;
            granted(elsewhere.refresh(exclusive(held)));
            await().until(() -> modeAtThird() == LockMode.EXCLUSIVE);
        }
    }

    @Test
    void givenOnlySharedAtOne_whenRefreshedElsewhere_thenItIsPromotedThere() {
        try (CombinedStore elsewhere = new CombinedStore(members, new ConsensusStrategy())) {
            granted(elsewhere.refresh(exclusive(held)));

            await().until(() -> modeAtThird() == LockMode.EXCLUSIVE);
        }
    }

    @Test
    void givenOnlySharedAtOne_whenAnotherHasLostIt_thenLost() {
        assertThat(memories.get(1).delete(held)).isTrue();

        assertThat(store.refresh(exclusive(held))).isInstanceOf(Response.Lost.class);
    }

    @Test
    void givenOnlySharedAtOne_whenRefreshed_thenItIsPromotedThere() {
        granted(store.refresh(exclusive(held)));

        await().until(() -> modeAtThird() == LockMode.EXCLUSIVE);
        members.get(1).always(REFRESH, Fault.unreachable());
        await().untilAsserted(() -> granted(store.refresh(exclusive(held))));
    }

    private LockMode modeAtThird() {
        return memories.get(2).find(key).orElseThrow().mode();
    }

    private static final class Unfenced implements SharedStore, ExpiringStore {

        private final InMemoryStore memory;
        private volatile boolean isAway;

        Unfenced(InMemoryStore memory) {
            this.memory = memory;
        }

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public Response refresh(Request request) {
            if (isAway) {
                throw new LockStorageException(request.key().resource(), "away", null);
            }
            return memory.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key);
        }
    }
}

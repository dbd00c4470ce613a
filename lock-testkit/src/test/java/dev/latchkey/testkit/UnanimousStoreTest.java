package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.UnanimousStrategy;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members that must all agree: with two, a majority would be all of them as well. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class UnanimousStoreTest
        implements PersistingStoreContract,
                SharedLeaseContract,
                SharedFencingContract,
                ExpiringFencingContract,
                ProcessBoundContract {

    private final PersistingStore store = combined();

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return combined();
    }

    @Test
    void givenOneOfThreeMembersIsHeldByAnother_whenAcquired_thenConflictAndNothingIsLeftAtTheOthers() {
        List<InMemoryStore> members = List.of(new InMemoryStore(), new InMemoryStore(), new InMemoryStore());
        Key other = Key.of("orders");
        granted(members.get(2).save(exclusive(other)));
        try (CombinedStore unanimous = new CombinedStore(members, new UnanimousStrategy())) {
            assertThat(unanimous.save(exclusive(Key.of("orders")))).isInstanceOf(Response.Conflicted.class);
            // A refusal waits for what it gives back, but not for long.
            for (InMemoryStore member : members.subList(0, 2)) {
                await().until(() -> member.holders("orders").isEmpty());
            }

            assertThat(members.get(2).delete(other)).isTrue();
            assertThat(unanimous.save(exclusive(Key.of("orders")))).isInstanceOf(Response.Granted.class);
        }
    }

    private static PersistingStore combined() {
        return new CombinedStore(
                List.of(new InMemoryStore(), new InMemoryStore(), new InMemoryStore()), new UnanimousStrategy());
    }
}

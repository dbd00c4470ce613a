package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.store.CombinedStore;
import dev.latchkey.store.ConsensusStrategy;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two members whose holds last as long as a session, and one with leases. */
@Timeout(120)
class CombinedMixedTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final Sessions one = new Sessions(new InMemoryStore());
    private final Sessions other = new Sessions(new InMemoryStore());
    private final InMemoryStore memory = new InMemoryStore();
    private final FaultyStore leases = new FaultyStore(memory);
    private final CombinedStore store = new CombinedStore(List.of(one, other, leases), new ConsensusStrategy());
    private final Key key = Key.of("x");

    @AfterEach
    void close() {
        leases.heal();
        store.close();
    }

    /** Without a time the hold was never renewed: the lease ended, and was counted on when a session did. */
    @Test
    void givenEnoughMembersHaveNoLease_whenSaved_thenThereIsALeaseAllTheSame() {
        Attempt.Granted saved = granted(store.save(exclusive(key, TTL)));
        assertThat(saved.lease().since()).isPresent();
        assertThat(saved.lease().ttl()).isEqualTo(TTL);

        leases.always(REFRESH, Fault.unreachable());
        Attempt.Granted refreshed = granted(store.refresh(exclusive(holding(key, saved), TTL)));

        assertThat(refreshed.lease().since()).isPresent();
        assertThat(store.find(key).orElseThrow().lease().since()).isPresent();
    }

    @Test
    void givenALeaseWasNotRenewed_whenASessionIsLost_thenTheHoldIsLost() {
        Attempt.Granted saved = granted(store.save(exclusive(key, TTL)));
        await().until(() -> memory.find(key).isPresent());
        leases.always(REFRESH, Fault.unreachable());
        granted(store.refresh(exclusive(holding(key, saved), TTL)));

        one.end(key);

        await().until(() -> isLost(saved));
        await().until(() -> other.find(key).isEmpty());
    }

    @Test
    void givenALeaseIsRenewed_whenASessionIsLost_thenTheOthersAreEnough() {
        Attempt.Granted saved = granted(store.save(exclusive(key, TTL)));
        await().until(() -> memory.find(key).isPresent());
        Key held = holding(key, saved);
        one.isSilent = true;
        granted(store.refresh(exclusive(held, TTL)));
        one.isSilent = false;

        one.end(key);

        granted(store.refresh(exclusive(held, TTL)));
        assertThat(isLost(saved)).isFalse();
    }

    /** What is left for its min hold is nobody's: the members without leases kept it as long as the process lived. */
    @Test
    void givenLeftForItsMinHold_whenThatIsOver_thenAllMembersAreFree() {
        try (LockFactory locks = new LockFactory(store);
                Lock lock =
                        locks.lock("x").ttl(TTL).minHold(Duration.ofMillis(200)).create()) {
            assertThat(lock.tryAcquire()).isTrue();
            Key held = lock.key();

            assertThat(lock.release()).isTrue();

            await().until(() -> List.of(one, other, memory).stream()
                    .allMatch(member -> member.find(held).isEmpty()));
            assertThat(lock.tryAcquire()).isTrue();
        }
    }

    private static boolean isLost(Attempt.Granted granted) {
        return granted.lease().lost().orElseThrow().toCompletableFuture().isDone();
    }

    /** Grants for as long as a session lasts, which a test can end. */
    private static final class Sessions implements PersistingStore {

        private final InMemoryStore store;
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private volatile boolean isSilent;

        Sessions(InMemoryStore store) {
            this.store = store;
        }

        void end(Key key) {
            assertThat(store.delete(key)).isTrue();
            lost.complete(LossReason.SESSION_LOST);
        }

        private Attempt.Granted inSession(Attempt.Granted granted) {
            return new Attempt.Granted(granted.mode(), OptionalLong.empty(), Lease.session(lost));
        }

        @Override
        public Attempt save(Request request) {
            Request endless = new Request(request.key(), request.mode(), Duration.ofDays(1), request.patience());
            return store.save(endless) instanceof Attempt.Granted granted
                    ? inSession(granted)
                    : Attempt.Conflicted.NO_HINT;
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Attempt.Granted> find(Key key) {
            if (isSilent) {
                throw new LockStorageException(key.resource(), "no answer", null);
            }
            return store.find(key).map(this::inSession);
        }
    }
}

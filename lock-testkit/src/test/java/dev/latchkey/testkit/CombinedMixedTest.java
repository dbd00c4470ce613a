package dev.latchkey.testkit;

import static dev.latchkey.testkit.FaultyStore.Operation.REFRESH;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.combined.CombinedStore;
import dev.latchkey.combined.ConsensusStrategy;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two members whose holds last as long as a session, and one with leases. */
class CombinedMixedTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    /** Of a lease that is not over before it is renewed. */
    private static final Duration FIRST = Duration.ofSeconds(5);

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
        Response.Granted saved = granted(store.save(exclusive(key, TTL)));
        assertThat(saved.lease().since()).isPresent();
        assertThat(saved.lease().ttl()).isEqualTo(TTL);

        leases.always(REFRESH, Fault.unreachable());
        Response.Granted refreshed = granted(store.refresh(exclusive(holding(key, saved), TTL)));

        assertThat(refreshed.lease().since()).isPresent();
        assertThat(store.find(key).orElseThrow().lease().since()).isPresent();
    }

    @Test
    void givenALeaseWasNotRenewed_whenASessionIsLost_thenTheHoldIsLost() {
        Response.Granted saved = granted(store.save(exclusive(key, TTL)));
        await().until(() -> memory.find(key).isPresent());
        leases.always(REFRESH, Fault.unreachable());
        granted(store.refresh(exclusive(holding(key, saved), TTL)));

        one.end(key);

        await().until(() -> isLost(saved));
        await().until(() -> other.find(key).isEmpty());
    }

    @Test
    void givenALeaseIsRenewed_whenASessionIsLost_thenTheOthersAreEnough() {
        Response.Granted saved = granted(store.save(exclusive(key, TTL)));
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

    /** The members without leases kept what nobody renewed or released, and no rival got in as long as the process lived. */
    @Test
    void givenNeitherRenewedNorReleased_whenTheLeaseIsOver_thenAllMembersAreFree() {
        Response.Granted saved = granted(store.save(exclusive(key, Duration.ofMillis(300))));
        await().until(() -> List.of(one, other, memory).stream()
                .allMatch(member -> member.find(key).isEmpty()));

        await().until(() -> isLost(saved));
        granted(store.save(exclusive(Key.of("x"), TTL)));
    }

    @Test
    @Tag("slow")
    void givenALeaseIsRenewed_whenTheFirstIsOver_thenHeldStill() {
        Response.Granted saved = granted(store.save(exclusive(key, FIRST)));
        granted(store.refresh(exclusive(holding(key, saved), TTL)));
        Key shorter = Key.of("y");
        granted(store.save(exclusive(shorter, FIRST.plusMillis(500))));

        await().until(() -> one.find(shorter).isEmpty());

        granted(store.refresh(exclusive(holding(key, saved), TTL)));
        assertThat(isLost(saved)).isFalse();
    }

    /** Its key was given to somebody who uses the same members through another combined store: that is not told of it. */
    @Test
    @Tag("slow")
    void givenRenewedThroughAnotherStore_whenTheFirstLeaseIsOver_thenHeldStill() {
        try (CombinedStore there = new CombinedStore(List.of(one, other, leases), new ConsensusStrategy())) {
            Key held = holding(key, granted(store.save(exclusive(key, FIRST))));
            granted(there.refresh(exclusive(held, TTL)));
            Key shorter = Key.of("y");
            granted(store.save(exclusive(shorter, FIRST.plusMillis(500))));

            await().until(() -> one.find(shorter).isEmpty());

            assertThat(one.find(held)).isPresent();
            granted(there.refresh(exclusive(held, TTL)));
            assertThat(store.save(exclusive(Key.of("x"), TTL))).isInstanceOf(Response.Conflicted.class);
        }
    }

    /** What this store knew of before was given back when its lease was over, and with it what is held since. */
    @Test
    @Tag("slow")
    void givenPromotedAnewThroughAnotherStore_whenTheFirstLeaseIsOver_thenHeldHereStill() {
        try (CombinedStore there = new CombinedStore(List.of(one, other, leases), new ConsensusStrategy())) {
            Key first = holding(key, granted(store.save(exclusive(key, FIRST))));
            Key reads = holding(key, granted(there.save(shared(first, TTL))));
            Key held = holding(key, granted(there.save(exclusive(reads, TTL))));
            assertThat(held.held()).isNotEqualTo(first.held());
            Response.Granted saved = granted(store.refresh(exclusive(held, TTL)));
            Key shorter = Key.of("y");
            granted(store.save(exclusive(shorter, FIRST.plusMillis(500))));

            await().until(() -> one.find(shorter).isEmpty());

            assertThat(isLost(saved)).isFalse();
            assertThat(one.find(held)).isPresent();
            assertThat(there.save(exclusive(Key.of("x"), TTL))).isInstanceOf(Response.Conflicted.class);
        }
    }

    @Test
    void givenRenewedThroughAnotherStore_whenASessionIsLost_thenTheOthersAreEnough() {
        leases.next(FaultyStore.Operation.SAVE, Fault.unreachable());
        try (CombinedStore there = new CombinedStore(List.of(one, other, leases), new ConsensusStrategy())) {
            Key held = holding(key, granted(store.save(exclusive(key, TTL))));
            granted(there.refresh(exclusive(held, TTL)));
            await().until(() -> memory.find(held).isPresent());
            // The answer does not come without the third: else it would not be known yet to last.
            one.isSilent = true;
            granted(there.refresh(exclusive(held, TTL)));
            one.isSilent = false;

            one.end(held);

            granted(there.refresh(exclusive(held, TTL)));
            assertThat(other.find(held)).isPresent();
        }
    }

    /** The third was counted on when the first had ended, and said only then that it has no part: nobody was told of it. */
    @Test
    void givenASessionWasLost_whenAMemberSaysLateThatItHasNoPart_thenTheHoldIsLost() throws Exception {
        FaultyStore late = new FaultyStore(other);
        try (CombinedStore asked = new CombinedStore(List.of(one, late, leases), new ConsensusStrategy())) {
            Response.Granted saved = granted(asked.save(exclusive(key, TTL)));
            await().until(() -> List.of(one, other, memory).stream()
                    .allMatch(member -> member.find(key).isPresent()));
            Key rival = Key.of("x");
            assertThat(other.delete(key)).isTrue();
            granted(other.save(exclusive(rival, TTL)));
            Pause answer = new Pause();
            late.next(FaultyStore.Operation.FIND, Fault.pausedAfter(answer));
            granted(asked.refresh(exclusive(holding(key, saved), TTL)));
            answer.awaitReached();
            one.end(key);
            assertThat(isLost(saved)).isFalse();

            answer.end();

            await().until(() -> isLost(saved));
            await().until(() -> memory.find(key).isEmpty());
        }
    }

    /** What the third has may still become shared: a second Lock over the key, which claims no more, had it counted. */
    @Test
    void givenOneMayStillBeDemoted_whenRefreshedAsShared_thenItDoesNotCountAsExclusiveWhenASessionIsLost() {
        Key writes = holding(key, granted(store.save(exclusive(key, TTL))));
        await().until(() -> memory.find(key).isPresent());
        leases.next(FaultyStore.Operation.SAVE, Fault.unreachable());
        Key reads = holding(key, granted(store.save(shared(writes, TTL))));
        await().until(() -> store.isSpent(key));
        Response.Granted promoted = granted(store.save(exclusive(reads, TTL)));
        one.isSilent = true;
        granted(store.refresh(shared(reads, TTL)));
        one.isSilent = false;
        assertThat(isLost(promoted)).isFalse();

        one.end(key);

        await().until(() -> isLost(promoted));
    }

    /** A question that takes less time than the grant did is told of a lease that seems to end later. */
    @Test
    void givenLookedAt_whenASessionIsLost_thenTheOthersAreEnough() {
        try (CombinedStore asked = new CombinedStore(List.of(one, other, new Quick(memory)), new ConsensusStrategy())) {
            Response.Granted saved = granted(asked.save(exclusive(key, TTL)));
            await().until(() -> memory.find(key).isPresent());
            one.isSilent = true;
            Key held = holding(key, saved);
            granted(asked.refresh(exclusive(held, TTL)));
            assertThat(asked.find(held)).isPresent();
            one.isSilent = false;

            one.end(key);

            granted(asked.refresh(exclusive(held, TTL)));
            assertThat(isLost(saved)).isFalse();
        }
    }

    /** Else it would not count as lasting long enough when a session is lost. */
    @Test
    void givenAMemberAnswersLate_whenRefreshed_thenItsLeaseLastsAsLongAsTheHold() throws Exception {
        FaultyStore second = new FaultyStore(new InMemoryStore());
        Pause answer = new Pause();
        Pause request = new Pause();
        try (CombinedStore asked = new CombinedStore(List.of(leases, one, second), new ConsensusStrategy())) {
            Key held = holding(key, granted(asked.save(exclusive(key, TTL))));
            await().until(() -> memory.find(key).isPresent());
            leases.next(REFRESH, Fault.pausedAfter(answer));
            second.next(REFRESH, Fault.pausedBefore(request));
            BackgroundCall<Response> refresh = BackgroundCall.start(() -> asked.refresh(exclusive(held, TTL)));
            answer.awaitReached();
            request.end();

            Lease told = granted(refresh.result()).lease();

            answer.end();
            assertThat(end(told) - end(memory.find(key).orElseThrow().lease())).isNotPositive();
        }
    }

    private static long end(Lease lease) {
        return lease.since().orElseThrow() + lease.ttl().toNanos();
    }

    private static boolean isLost(Response.Granted granted) {
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

        private Response.Granted inSession(Response.Granted granted) {
            return new Response.Granted(granted.mode(), OptionalLong.empty(), Lease.session(lost));
        }

        @Override
        public Response save(Request request) {
            Key key = request.key().claiming(request.key().held().map(claimed -> withToken(request.key(), claimed)));
            Request endless = new Request(key, request.mode(), Duration.ofDays(1), request.retryIntent());
            return store.save(endless) instanceof Response.Granted granted
                    ? inSession(granted)
                    : Response.Conflicted.NO_HINT;
        }

        /** Tells no tokens, so that none is claimed. */
        private Key.Held withToken(Key key, Key.Held claimed) {
            return store.find(key)
                    .filter(had -> had.mode() == claimed.mode())
                    .map(had -> new Key.Held(had.mode(), had.fencingToken()))
                    .orElse(claimed);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            if (isSilent) {
                throw new LockStorageException(key.resource(), "no answer", null);
            }
            return store.find(key).map(this::inSession);
        }
    }

    /** Is asked in less time than it grants. */
    private record Quick(InMemoryStore store) implements ExpiringStore {

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
            return store.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key)
                    .map(found -> new Response.Granted(
                            found.mode(),
                            found.fencingToken(),
                            Lease.timed(
                                    found.lease().since().orElseThrow(),
                                    found.lease().ttl().plusMillis(1))));
        }
    }
}

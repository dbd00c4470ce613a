package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.junit.jupiter.api.Test;

/** The least store there is keeps the contracts: waiting, back-off and what it cannot do are the core's. */
class MinimalStoreTest implements PersistingStoreContract, UnfencedContract {

    private final PersistingStore store = new MinimalStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new MinimalStore();
    }

    /** A13: where nobody can share, sharing takes the exclusive lock. */
    @Test
    void givenItCannotShare_whenAcquiredShared_thenExclusive(Fixture fixture) throws Exception {
        Lock lock = fixture.lock().acquireShared();

        assertThat(lock.key().held()).map(Key.Held::mode).contains(LockMode.EXCLUSIVE);
        assertThat(fixture.lock().tryAcquireShared()).isFalse();
        assertThat(fixture.lock().tryAcquireShared(WaitingContract.SHORT_WAIT)).isFalse();
    }

    @Test
    void givenItCannotShare_whenAReaderWaits_thenItGetsTheLockInItsTurn(Fixture fixture) throws Exception {
        Lock holder = fixture.lock().acquireShared();
        BackgroundCall<Lock> waiting = fixture.startWaiting(fixture.lock()::acquireShared);

        assertThat(holder.release()).isTrue();

        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenItCannotShare_whenPromotedAndDemoted_thenTheOneHoldGoesOn(Fixture fixture) throws Exception {
        Lock lock = fixture.lock().acquireShared();

        lock.acquire();
        lock.acquireShared();

        assertThat(fixture.lock().tryAcquireShared()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    void givenItDoesNotExpire_whenRefreshed_thenTheStoreIsAskedAndNoTimeBoundsIt(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        lock.refresh();

        assertThat(lock.remainingLifetime()).isEmpty();
    }

    /** One exclusive holder for each resource, until it is deleted. */
    private static final class MinimalStore implements PersistingStore {

        private static final Response.Granted GRANTED =
                new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.endless());

        private final ConcurrentMap<String, String> tokens = new ConcurrentHashMap<>();

        @Override
        public Response save(Request request) {
            Key key = request.key();
            if (key.held().isPresent() && find(key).isEmpty()) {
                return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
            }
            String holder = tokens.putIfAbsent(key.resource(), key.token());
            return holder == null || holder.equals(key.token()) ? GRANTED : Response.Conflicted.NO_HINT;
        }

        @Override
        public boolean delete(Key key) {
            return tokens.remove(key.resource(), key.token());
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return key.token().equals(tokens.get(key.resource())) ? Optional.of(GRANTED) : Optional.empty();
        }
    }
}

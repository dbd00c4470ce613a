package dev.latchkey.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A request of an editor that is answered when its lease is over. */
class LateGrantTest {

    private final InMemoryStore memory = new InMemoryStore();
    private final Slow store = new Slow();
    private final TreeEditor editor =
            TreeLocks.of(store, "tree").withoutStateRule().create().createEditor(id -> List.of());

    /** It was said to be closed, and the store was asked three times to give up nothing. */
    @Test
    void givenTheLeaseIsOverWhenTheStoreAnswers_whenAcquired_thenTheStoreHasFailedAndNothingIsHeld() {
        store.isSlow = true;

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("before the lease was over");

        assertThat(editor.held()).isEmpty();
        assertThat(memory.holders("tree/model")).isEmpty();
        assertThat(store.givenUp).isEqualTo(1);
        store.isSlow = false;
        editor.acquire(TreeRequest.exclusive("model"));
        editor.checkExclusive("model");
    }

    /** Tells of leases that are over by now. */
    private final class Slow implements SharedStore, ExpiringStore, BatchStore {

        private boolean isSlow;
        private int givenUp;

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            var granted = (BatchAttempt.Granted) memory.saveAll(requests);
            return isSlow
                    ? new BatchAttempt.Granted(
                            granted.grants().stream().map(Slow::late).toList())
                    : granted;
        }

        private static Response.Granted late(Response.Granted grant) {
            Lease lease = grant.lease();
            return new Response.Granted(
                    grant.mode(),
                    grant.fencingToken(),
                    Lease.timed(lease.since().orElseThrow() - lease.ttl().toNanos(), lease.ttl()));
        }

        @Override
        public int deleteAll(List<Key> keys) {
            givenUp++;
            return memory.deleteAll(keys);
        }

        @Override
        public Response save(Request request) {
            return memory.save(request);
        }

        @Override
        public Response refresh(Request request) {
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

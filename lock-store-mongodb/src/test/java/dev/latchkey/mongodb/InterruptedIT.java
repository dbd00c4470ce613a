package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** B21: what does not wait works for a thread that is interrupted, and keeps its flag: each method, from the first on. */
class InterruptedIT {

    @Test
    void givenInterruptFlag_whenAFactoryIsClosed_thenItIsClosedAndTheFlagKept() throws Exception {
        BackgroundCall<Boolean> call = BackgroundCall.start(() -> {
            LockFactory locks = LockFactory.connect(MongoDbServer.sharedDsn("interrupted"));
            assertThat(locks.createLock("closing", Duration.ofMinutes(1)).tryAcquire())
                    .isTrue();
            Thread.currentThread().interrupt();
            assertThatCode(locks::close).doesNotThrowAnyException();
            return Thread.currentThread().isInterrupted();
        });

        assertThat(call.result()).isTrue();
        try (LockFactory others = LockFactory.connect(MongoDbServer.sharedDsn("interrupted"))) {
            assertThat(others.createLock("closing").tryAcquire())
                    .as("given back")
                    .isTrue();
        }
    }

    @Test
    void givenInterruptFlag_whenEachMethodOfAStoreIsCalled_thenItWorksAndKeepsTheFlag() throws Exception {
        BackgroundCall<Boolean> call = BackgroundCall.start(() -> {
            Thread.currentThread().interrupt();
            MongoDbStore store =
                    MongoDbStore.builder(MongoDbServer.sharedDsn("interrupted")).build();
            Key key = Key.of("each");
            Key claim = Requests.holding(key, store.save(Requests.exclusive(key)));
            Requests.granted(store.refresh(Requests.exclusive(claim)));
            assertThat(store.find(key)).isPresent();
            assertThat(store.holders("each")).hasSize(1);
            store.raise(Map.of("each", new StateIndex(1, 1)));
            assertThat(store.indexes(List.of("each"))).hasSize(1);
            store.watch("each").close();
            store.createIndexes();
            assertThat(store.delete(key)).isTrue();
            store.close();
            assertThatThrownBy(() -> store.save(Requests.exclusive(key))).isInstanceOf(LockStorageException.class);
            return Thread.currentThread().isInterrupted();
        });

        assertThat(call.result()).isTrue();
    }
}

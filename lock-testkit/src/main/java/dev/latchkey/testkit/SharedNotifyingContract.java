package dev.latchkey.testkit;

import static dev.latchkey.testkit.NotifyingStoreContract.awaitWoken;
import static dev.latchkey.testkit.NotifyingStoreContract.nextAfterARefusal;
import static dev.latchkey.testkit.NotifyingStoreContract.watching;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.SharedStore;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Who waits is also told when readers may come, or have gone: for a {@link NotifyingStore} that shares. */
@ContractFor({SharedStore.class, NotifyingStore.class})
public interface SharedNotifyingContract extends NotifyingStoreContract {

    @Test
    default void givenWatched_whenTheLastReaderReleases_thenWoken(Fixture fixture) {
        Lock reader = fixture.lock();
        assertThat(reader.tryAcquireShared()).isTrue();
        try (ReleaseSubscription watch = watching(fixture)) {
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);

            assertThat(reader.release()).isTrue();

            awaitWoken(next);
        }
    }

    @Test
    default void givenWatched_whenTheWriterBecomesAReader_thenWoken(Fixture fixture) {
        Lock holder = fixture.lock();
        assertThat(holder.tryAcquire()).isTrue();
        try (ReleaseSubscription watch = watching(fixture)) {
            CompletionStage<?> next = nextAfterARefusal(fixture, watch);

            assertThat(holder.tryAcquireShared()).isTrue();

            awaitWoken(next);
        }
    }
}

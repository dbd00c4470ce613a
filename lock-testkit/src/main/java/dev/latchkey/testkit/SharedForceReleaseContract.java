package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.SharedStore;
import org.junit.jupiter.api.Test;

/** Readers are not ended by the fencing token of a writer: for a {@link ForceReleaseStore} that is a {@link SharedStore}. */
@ContractFor({ForceReleaseStore.class, SharedStore.class})
public interface SharedForceReleaseContract extends ForceReleaseStoreContract {

    /** The token of the last exclusive hold is nobody's any more, although the store may remember it. */
    @Test
    default void givenAReaderAfterAWriter_whenTheWritersTokenIsForced_thenTheReaderStays(Fixture fixture) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        Key writer = fixture.key();
        long token = granted(store.save(exclusive(writer))).fencingToken().orElseThrow();
        assertThat(store.delete(writer)).isTrue();
        Key reader = fixture.key();
        var unused = granted(store.save(shared(reader)));

        assertThat(store.forceRelease(fixture.resource(), token)).isFalse();

        assertThat(store.find(reader)).isPresent();
    }
}

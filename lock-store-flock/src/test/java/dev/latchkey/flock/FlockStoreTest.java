package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FlockStoreTest extends WithAStore {

    @Test
    void givenHeld_whenTheKernelIsAsked_thenHeldUntilDeleted() throws Exception {
        granted(store.save(exclusive(key)));
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);

        assertThat(store.delete(key)).isTrue();

        assertThat(KernelView.heldHere(file())).isEmpty();
        assertThat(file()).exists();
    }

    @Test
    void givenTwoReaders_whenOneDeletes_thenTheKernelHoldsShared() throws Exception {
        Key other = Key.of("report");
        granted(store.save(shared(key)));
        granted(store.save(shared(other)));

        assertThat(store.delete(key)).isTrue();

        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
        assertThat(store.delete(other)).isTrue();
        assertThat(KernelView.heldHere(file())).isEmpty();
    }

    @Test
    void givenTwoStores_whenBothUseOneKey_thenTheyAreRivals() {
        try (FlockStore second = new FlockStore(directory)) {
            granted(store.save(exclusive(key)));

            assertThat(second.save(exclusive(key))).isInstanceOf(Response.Conflicted.class);
            assertThat(second.find(key)).isEmpty();
            assertThat(second.delete(key)).isFalse();
            assertThat(store.find(key)).isPresent();
        }
    }

    @Test
    void givenTwoStoresHold_whenOneIsClosed_thenTheOtherHoldsInTheKernelStill() throws Exception {
        FlockStore second = new FlockStore(directory);
        granted(store.save(shared(key)));
        granted(second.save(shared(Key.of("report"))));

        second.close();

        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
        assertThat(store.find(key)).isPresent();
    }

    @Test
    void givenAHolderAndAWaiterOfAnotherStore_whenThatStoreIsClosed_thenTheWaitFailsAndTheHolderHolds()
            throws Exception {
        FlockStore second = new FlockStore(directory);
        granted(store.save(exclusive(key)));
        FutureTask<Response> waiting = waiting(second, Key.of("report"));

        second.close();

        assertThatThrownBy(() -> waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockStorageException.class);
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
    }

    /** It stayed at the head, with nothing to promote, and nobody behind it was served. */
    @Test
    void givenAPromoterThatClaimsNothing_whenItsKeyIsReleased_thenItWaitsToTakeLikeAnyOther() throws Exception {
        Key reader = Key.of("report");
        granted(store.save(shared(key)));
        granted(store.save(shared(reader)));
        FutureTask<Response> promoting = waiting(store, key, Duration.ofMinutes(5));
        Key writer = Key.of("report");
        FutureTask<Response> writing = waiting(store, writer);

        assertThat(store.delete(key)).isTrue();
        assertThat(store.delete(reader)).isTrue();

        assertThat(writing.get()).isInstanceOf(Response.Granted.class);
        assertThat(promoting.isDone()).isFalse();
        assertThat(store.delete(writer)).isTrue();
        assertThat(promoting.get()).isInstanceOf(Response.Granted.class);
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
    }

    @Test
    void givenNeverHeldExclusively_whenPromoted_thenExclusiveInTheKernel() throws Exception {
        Key reader = holding(key, store.save(shared(key)));

        Response promoted = store.save(exclusive(reader));

        assertThat(token(promoted)).isPositive();
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
        assertThat(store.save(shared(holding(key, promoted)))).isInstanceOf(Response.Granted.class);
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
    }

    /** B21: each method works, and the flag stays for whoever is to act on it. */
    @Test
    void givenInterruptFlag_whenEachMethodIsCalled_thenItWorksAndTheFlagIsKept() throws Exception {
        Key other = Key.of("other");
        Thread.currentThread().interrupt();
        try {
            Key held = holding(key, store.save(shared(key)));
            Key promoted = holding(held, store.save(exclusive(held)));
            granted(store.save(shared(promoted)));
            granted(store.save(exclusive(other)));
            assertThat(store.save(exclusive(Key.of("other")))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.find(other)).isPresent();
            assertThat(store.holders("other")).hasSize(1);
            assertThat(store.delete(other)).isTrue();
            assertThat(store.holders("other")).isEmpty();
            store.close();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }

        assertThat(KernelView.heldHere(file())).isEmpty();
        assertThat(openFiles()).isEmpty();
    }

    @Test
    void givenClosed_whenAsked_thenSavingFailsAndTheRestFindsNothing() {
        granted(store.save(exclusive(key)));

        store.close();
        store.close();

        assertThatThrownBy(() -> store.save(exclusive(key)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("closed");
        assertThat(store.find(key)).isEmpty();
        assertThat(store.delete(key)).isFalse();
    }

    @Test
    void givenManyResourcesUsed_whenAllAreReleased_thenFewFilesAreOpenAndTheyWorkStill() throws Exception {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 100; i++) {
                Key one = Key.of("many-" + i);
                granted(store.save(exclusive(one)));
                assertThat(store.delete(one)).isTrue();
            }
        }

        assertThat(openFiles()).hasSize(OpenFiles.MOST_UNUSED);
        store.close();
        assertThat(openFiles()).isEmpty();
    }

    @Test
    void givenMoreHeldThanAreKeptOpen_whenOthersComeAndGo_thenTheHeldStayLocked() throws Exception {
        List<Key> held = Stream.iterate(0, i -> i + 1)
                .limit(3 * OpenFiles.MOST_UNUSED)
                .map(i -> Key.of("held-" + i))
                .toList();
        held.forEach(one -> granted(store.save(exclusive(one))));

        givenManyResourcesComeAndGo();

        for (Key one : held) {
            assertThat(KernelView.heldHere(store.fileOf(one.resource()))).containsExactly(LockMode.EXCLUSIVE);
            assertThat(store.delete(one)).isTrue();
        }
    }

    private void givenManyResourcesComeAndGo() {
        for (int i = 0; i < 100; i++) {
            Key one = Key.of("passing-" + i);
            granted(store.save(exclusive(one)));
            assertThat(store.delete(one)).isTrue();
        }
    }

    @Test
    void givenInterruptFlag_whenCallsAreMade_thenAReaderOfTheSameFileStaysLocked() throws Exception {
        granted(store.save(shared(Key.of("report"))));
        Thread.currentThread().interrupt();
        try {
            Key reader = holding(key, store.save(shared(key)));
            assertThat(store.save(exclusive(reader))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.find(key)).isPresent();
            assertThat(store.holders("report")).hasSize(2);
            assertThat(store.delete(key)).isTrue();
            assertThatThrownBy(() -> store.waitAndSave(exclusive(key), LONG_WAIT, new CompletableFuture<>()))
                    .isInstanceOf(InterruptedException.class);
        } finally {
            Thread.interrupted();
        }

        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
    }

    @Test
    void givenInterruptFlag_whenPromotedAndDemoted_thenDoneAndFlagKept() throws Exception {
        Key reader = holding(key, store.save(shared(key)));
        Thread.currentThread().interrupt();

        Key writer = holding(key, store.save(exclusive(reader)));
        granted(store.save(shared(writer)));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
    }

    @Test
    void givenHeldHere_whenHoldersAreListed_thenModeTokenAndProcess() {
        long token = token(store.save(exclusive(key)));

        assertThat(store.holders("report")).singleElement().satisfies(holder -> {
            assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(holder.fencingToken()).hasValue(token);
            assertThat(holder.remaining()).isEmpty();
            assertThat(holder.description())
                    .hasValue("pid " + ProcessHandle.current().pid());
        });
        assertThat(store.holders("never used")).isEmpty();
        assertThat(store.fileOf("never used")).doesNotExist();
    }

    @Test
    void givenFree_whenHoldersAreListed_thenNone() {
        granted(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();

        assertThat(store.holders("report")).isEmpty();
    }
}

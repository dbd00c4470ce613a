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
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lock files and directories that are linked, deleted or replaced. */
class LostFileTest extends WithAStore {

    @Test
    void givenHardLink_whenTakenByTheOtherName_thenConflict() throws Exception {
        granted(store.save(exclusive(key)));
        Files.createLink(store.fileOf("same"), file());

        assertThat(store.save(exclusive(Key.of("same")))).isInstanceOf(Response.Conflicted.class);

        assertThat(store.delete(key)).isTrue();
        Response byOtherName = store.save(exclusive(Key.of("same")));
        assertThat(byOtherName).isInstanceOf(Response.Granted.class);
        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Conflicted.class);
    }

    @Test
    void givenSymbolicLinkToTheDirectory_whenTakenThere_thenConflict() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolveSibling(directory.getFileName() + "-link"), directory);
        try (FlockStore second = new FlockStore(link)) {
            granted(store.save(exclusive(key)));

            assertThat(second.save(exclusive(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
        } finally {
            Files.delete(link);
        }
    }

    @Test
    void givenHardLinkIsDeleted_whenFound_thenOnlyTheHoldByThatNameIsLost() throws Exception {
        granted(store.save(shared(key)));
        Files.createLink(store.fileOf("same"), file());
        Key same = Key.of("same");
        granted(store.save(shared(same)));

        Files.delete(store.fileOf("same"));

        assertThat(store.find(same)).isEmpty();
        assertThat(store.find(key)).isPresent();
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.SHARED);
    }

    @Test
    void givenHeldAndFileDeleted_whenFound_thenNothing() throws Exception {
        granted(store.save(exclusive(key)));

        Files.delete(file());

        assertThat(store.find(key)).isEmpty();
        assertThat(store.delete(key)).isFalse();
    }

    @Test
    void givenHeldAndFileReplaced_whenRenewed_thenLost() throws Exception {
        Key claim = holding(key, store.save(exclusive(key)));
        Files.delete(file());
        Files.createFile(file());
        letTheLastLookGrowOld();

        assertThat(store.save(exclusive(claim))).isEqualTo(new Response.Lost(LossReason.SESSION_LOST));
        assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenHeldAndFileDeleted_whenDeletedLater_thenFalse() throws Exception {
        granted(store.save(exclusive(key)));
        Files.delete(file());
        letTheLastLookGrowOld();

        assertThat(store.delete(key)).isFalse();
    }

    @Test
    void givenUnusedFileDeleted_whenTaken_thenTakenOnTheNewFile() throws Exception {
        granted(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();
        Files.delete(file());
        letTheLastLookGrowOld();

        granted(store.save(exclusive(key)));

        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
    }

    @Test
    void givenFileDeletedWhileOneWaits_whenTheHolderDeletes_thenTheWaiterHoldsTheNewFile() throws Exception {
        granted(store.save(exclusive(key)));
        Key waiter = Key.of("report");
        FutureTask<Response> waiting = waiting(store, waiter);
        Files.delete(file());
        letTheLastLookGrowOld();

        assertThat(store.delete(key)).isFalse();

        assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(Response.Granted.class);
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
    }

    /** The hold has ended, whatever there is to be said of the file: nobody else would ever tell who waits for it. */
    @Test
    void givenADirectoryInPlaceOfTheFile_whenTheHolderDeletes_thenWhoWaitsFailsAsWell() throws Exception {
        granted(store.save(exclusive(key)));
        FutureTask<Response> waiting = waiting(store, Key.of("report"));
        Files.delete(file());
        Files.createDirectory(file());
        letTheLastLookGrowOld();

        assertThatThrownBy(() -> store.delete(key)).hasMessageContaining("a directory");

        assertThatThrownBy(() -> waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockStorageException.class)
                .hasMessageContaining("a directory");
    }

    /** The holder learns by a look, or by taking again, that its file is gone: nobody else would ever tell the other store. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void givenFileDeletedWhileAnotherStoreWaits_whenTheHolderLooks_thenTheWaiterHoldsTheNewFile(boolean takesAgain)
            throws Exception {
        try (FlockStore second = new FlockStore(directory)) {
            Response.Granted held = granted(store.save(exclusive(key)));
            FutureTask<Response> waiting = waiting(second, Key.of("report"));
            Files.delete(file());
            letTheLastLookGrowOld();

            if (takesAgain) {
                assertThat(store.save(exclusive(holding(key, held)))).isInstanceOf(Response.Lost.class);
            } else {
                assertThat(store.find(key)).isEmpty();
            }

            assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(Response.Granted.class);
            assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
        }
    }

    /** What a callback throws cannot even be recorded if memory runs out. That must not keep the lock from anybody. */
    @Test
    void givenFileDeletedAndTellingItsHoldersFails_whenAnotherAcquires_thenGrantedAndAllAreToldAndNothingStaysLocked()
            throws Exception {
        Key second = Key.of("report");
        Key promoter = holding(key, store.save(shared(key)));
        Queue<Key> told = new ConcurrentLinkedQueue<>();
        for (Key holder : List.of(key, second)) {
            CompletionStage<LossReason> lost =
                    granted(store.save(shared(holder))).lease().lost().orElseThrow();
            var unused = lost.thenRun(() -> {
                told.add(holder);
                throw new UnrecordableError();
            });
        }
        FutureTask<Response> promotion =
                new FutureTask<>(() -> store.waitAndSave(exclusive(promoter), LONG_WAIT, new CompletableFuture<>()));
        Thread thread = new Thread(promotion, "promoter");
        thread.setDaemon(true);
        thread.start();
        Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        Path deleted = Files.createLink(directory.resolve("deleted"), file());
        Files.delete(file());
        letTheLastLookGrowOld();

        Response next = store.waitAndSave(exclusive(Key.of("report")), LONG_WAIT, new CompletableFuture<>());

        assertThat(next).isInstanceOf(Response.Granted.class);
        assertThat(told).containsExactlyInAnyOrder(key, second);
        assertThat(promotion.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(Response.Lost.class);
        assertThat(KernelView.heldHere(deleted)).isEmpty();
        assertThat(KernelView.heldHere(file())).containsExactly(LockMode.EXCLUSIVE);
    }

    @Test
    void givenDirectoryDeleted_whenTaken_thenMadeAgain() throws Exception {
        Files.delete(directory);

        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Granted.class);
    }
}

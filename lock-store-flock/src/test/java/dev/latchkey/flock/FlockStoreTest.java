package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.holding;
import static dev.latchkey.testkit.Requests.shared;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlockStoreTest {

    private static final Duration LONG_WAIT = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private FlockStore store;
    private final Key key = Key.of("report");

    @BeforeEach
    void open() {
        store = new FlockStore(directory);
    }

    @AfterEach
    void close() {
        store.close();
    }

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

    @Test
    void givenDirectoryDeleted_whenTaken_thenMadeAgain() throws Exception {
        Files.delete(directory);

        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Granted.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "not a lock file",
                "latchkey 1 fence 12",
                "latchkey 2 fence 0000000000000000000 pid 0000000000 since 0000000000000 converting 0\n",
                "latchkey 1 fence 000000000000000000x pid 0000000000 since 0000000000000 converting 0\n"
            })
    void givenForeignContent_whenTaken_thenStorageFailureAndTheFileIsAsItWas(String content) throws Exception {
        Files.writeString(file(), content);

        assertThatThrownBy(() -> store.save(exclusive(key)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining(file().toString())
                .hasMessageContaining("move the file away");

        assertThat(file()).hasContent(content);
        assertThat(KernelView.heldHere(file())).isEmpty();
        Files.writeString(file(), "");
        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Granted.class);
    }

    @Test
    void givenForeignContentOrADirectory_whenTriedAgainAndAgain_thenNoFileIsLeftOpen() throws Exception {
        Files.writeString(file(), "not a lock file");
        Files.createDirectory(store.fileOf("directory"));

        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> store.save(exclusive(key))).isInstanceOf(LockStorageException.class);
            assertThatThrownBy(() -> store.save(exclusive(Key.of("directory"))))
                    .isInstanceOf(LockStorageException.class);
        }

        assertThat(openFiles()).isEmpty();
    }

    @Test
    void givenForeignContent_whenTakenShared_thenStorageFailure() throws Exception {
        Files.writeString(file(), "not a lock file");

        assertThatThrownBy(() -> store.save(shared(key))).isInstanceOf(LockStorageException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 84, 4096})
    void givenLostWrite_whenTaken_thenTheTokenIsTheClock(int zeroes) throws Exception {
        long before = microsNow();
        Files.write(file(), new byte[zeroes]);

        long token = token(store.save(exclusive(key)));

        assertThat(token).isBetween(before - 1_000, microsNow());
    }

    @Test
    void givenTheClockWasAhead_whenTaken_thenTheTokenIsTheNext() throws Exception {
        long ahead = microsNow() + 3_600_000_000L;
        Files.writeString(file(), FileRecord.TEMPLATE.replaceFirst("0{19}", "%019d".formatted(ahead)));

        assertThat(token(store.save(exclusive(key)))).isEqualTo(ahead + 1);
    }

    @Test
    void givenZeroedWhileUnused_whenTakenAgain_thenTheTokenGrows() throws Exception {
        long first = token(store.save(exclusive(key)));
        assertThat(store.delete(key)).isTrue();
        Files.write(file(), new byte[FileRecord.TEMPLATE.length()]);
        letTheLastLookGrowOld();

        assertThat(token(store.save(exclusive(key)))).isGreaterThan(first);
    }

    @Test
    void givenMarkOfACrashedConversion_whenTaken_thenGrantedAndTheMarkIsGone() throws Exception {
        Files.writeString(file(), FileRecord.TEMPLATE.replace("converting 0", "converting 1"));

        assertThat(store.save(exclusive(key))).isInstanceOf(Response.Granted.class);

        assertThat(file()).content().contains("converting 0");
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

    @Test
    void givenDirectoryInPlaceOfTheFile_whenTaken_thenStorageFailure() throws Exception {
        Files.createDirectory(file());

        assertThatThrownBy(() -> store.save(exclusive(key)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining(file().toString())
                .hasMessageContaining("is a directory");
        assertThat(store.find(key)).isEmpty();
    }

    @Test
    void givenFileInPlaceOfTheDirectory_whenOpened_thenRefused() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));

        assertThatThrownBy(() -> new FlockStore(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("is a file");
    }

    @Test
    void givenDirectoryCannotBeCreated_whenOpened_thenRefused() throws Exception {
        Path below = Files.createFile(directory.resolve("file")).resolve("below");

        assertThatThrownBy(() -> new FlockStore(below))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(below.toString())
                .hasMessageContaining("cannot be created");
    }

    @Test
    void givenDirectoryIsNotWritable_whenOpened_thenRefused() throws Exception {
        Path unwritable = unwritableDirectory();

        assertThatThrownBy(() -> new FlockStore(unwritable))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(unwritable.toString())
                .hasMessageContaining("is not writable");
    }

    /** For root nearly everything is writable. */
    private Path unwritableDirectory() throws IOException {
        Path made = Files.createDirectory(directory.resolve("unwritable"), Permissions.of("r-xr-xr-x"));
        return Files.isWritable(made) ? Path.of("/proc/self") : made;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwx------ rw-------", "rwxr-xr-x rw-------", "rwxrwxr-x rw-rw----", "rwxrwxrwx rw-rw-rw-"})
    void givenDirectory_whenAFileIsMade_thenItIsAsOpenAsTheDirectory(String ofDirectoryAndFile) throws Exception {
        String[] permissions = ofDirectoryAndFile.split(" ", -1);
        Path made = directory.resolve("made");
        try (FlockStore other = new FlockStore(made)) {
            Permissions.set(made, permissions[0]);

            granted(other.save(exclusive(key)));

            assertThat(Permissions.get(other.fileOf("report"))).isEqualTo(permissions[1]);
        }
    }

    /**
     * E3, E6: whoever sees a lock file sees it with the rights it will always have; in between another user could open it
     * and keep its lock, or a kill leave it as it was.
     */
    @ParameterizedTest
    @ValueSource(strings = {"rwx------ rw-------", "rwxrwxrwx rw-rw-rw-"})
    void givenSomebodyLooks_whenAFileIsMade_thenItHasItsRightsFromTheFirst(String ofDirectoryAndFile) throws Exception {
        String[] permissions = ofDirectoryAndFile.split(" ", -1);
        Permissions.set(directory, permissions[0]);
        int files = 300;
        FutureTask<Set<String>> looking = new FutureTask<>(() -> {
            Set<String> seen = new TreeSet<>();
            for (int i = 0; i < files; i++) {
                seen.add(firstSeen(store.fileOf("looked-at-" + i)));
            }
            return seen;
        });
        Thread looker = new Thread(looking, "looker");
        looker.setDaemon(true);
        looker.start();

        for (int i = 0; i < files; i++) {
            Key one = Key.of("looked-at-" + i);
            granted(store.save(exclusive(one)));
            assertThat(store.delete(one)).isTrue();
        }

        assertThat(looking.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).containsExactly(permissions[1]);
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).hasSize(files);
        }
    }

    private static String firstSeen(Path file) throws IOException {
        while (true) {
            try {
                return Permissions.get(file);
            } catch (NoSuchFileException e) {
                Thread.onSpinWait();
            }
        }
    }

    /** E4: Java's own way to open for reading and writing says O_CREAT, which the kernel may refuse. */
    @Test
    void givenAFile_whenOpenedWithoutCreating_thenThatOne() throws Exception {
        Path file = Files.writeString(file(), "here");
        List<RandomAccessFile> strays = new ArrayList<>();

        try (RandomAccessFile opened =
                requireNonNull(ExistingFile.open(file, LockDirectory.identity(file), strays::add))) {
            opened.write('t');

            assertThat(file).hasContent("tere");
            assertThat(openFiles()).hasSize(1);
        }
        assertThat(strays).isEmpty();
    }

    /** E4: closing what it has opened could drop a lock that this process has on it. */
    @Test
    void givenFileReplaced_whenOpenedWithoutCreating_thenNoneAndItIsLeftOpen() throws Exception {
        Path file = Files.writeString(file(), "one");
        Object identity = LockDirectory.identity(file);
        Files.move(Files.writeString(store.fileOf("other"), "another"), file, StandardCopyOption.REPLACE_EXISTING);
        List<RandomAccessFile> strays = new ArrayList<>();

        assertThat(ExistingFile.open(file, identity, strays::add)).isNull();

        assertThat(strays).hasSize(1);
        strays.get(0).close();
    }

    /** E4. */
    @Test
    void givenNoFile_whenOpenedWithoutCreating_thenThereIsNone() {
        assertThatThrownBy(() -> ExistingFile.open(file(), "any", stray -> {})).isInstanceOf(IOException.class);

        assertThat(file()).doesNotExist();
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

    private FutureTask<Response> waiting(FlockStore of, Key waiter) {
        return waiting(of, waiter, LONG_WAIT);
    }

    private FutureTask<Response> waiting(FlockStore of, Key waiter, Duration maxWait) {
        FutureTask<Response> task =
                new FutureTask<>(() -> of.waitAndSave(exclusive(waiter), maxWait, new CompletableFuture<>()));
        Thread thread = new Thread(task, "waiter");
        thread.setDaemon(true);
        thread.start();
        Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return task;
    }

    private List<Path> openFiles() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .map(FlockStoreTest::target)
                    .filter(target -> target.startsWith(directory))
                    .toList();
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return descriptor;
        }
    }

    /** The store looks at the path once in a millisecond. */
    private static void letTheLastLookGrowOld() {
        long start = System.nanoTime();
        Awaitility.await()
                .pollInterval(Duration.ofMillis(1))
                .until(() -> System.nanoTime() - start > 2 * ResourceFile.LOOK_COUNTS_NANOS);
    }

    private Path file() {
        return store.fileOf("report");
    }

    private static long token(Response response) {
        return granted(response).fencingToken().orElseThrow();
    }

    private static long microsNow() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    @Test
    void givenRecord_whenRead_thenItIsText() throws Exception {
        granted(store.save(exclusive(key)));

        assertThat(Files.readString(file(), StandardCharsets.US_ASCII))
                .matches("latchkey 1 fence \\d{19} pid 0*"
                        + ProcessHandle.current().pid() + " since \\d{13} converting 0\n");
    }
}

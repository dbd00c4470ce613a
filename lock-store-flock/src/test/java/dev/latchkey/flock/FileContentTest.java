package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is in a lock file, and what else may be. */
class FileContentTest extends WithAStore {

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

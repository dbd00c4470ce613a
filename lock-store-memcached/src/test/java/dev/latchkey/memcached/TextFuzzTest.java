package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DSNs, and what is stored on the server, where anybody may write: read, or refused as illegal, or not ours. */
public final class TextFuzzTest {

    /**
     * Reads a text as {@code ./fuzz texts} makes it up.
     *
     * @param input in UTF-8
     */
    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        try {
            Dsn unused = Dsn.parse(text);
        } catch (IllegalArgumentException e) {
            // As documented.
        }
        // What is written again is read as the same: else a holder would not find itself.
        ItemState.read(text)
                .ifPresent(state -> assertThat(ItemState.read(state.written())).contains(state));
        HoldRecord.read(text)
                .ifPresent(hold -> assertThat(HoldRecord.read(hold.written())).contains(hold));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memcached://",
                "memcached://h:99999?prefix=%23",
                "memcached://[::1]/?protocol=",
                "memcached://h?=",
                "L1 X abcdefghijklmnopqrstu1 0000030 0001@@ @",
                "L1 S - abcdefghijklmnopqrstu1:0",
                "L1 000@run process",
                "L1 F"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }
}

package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.latchkey.Key;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys and lists of DSNs: read, or refused as illegal; and written again they are the same text. */
public final class TextFuzzTest {

    /**
     * Reads a text as {@code ./fuzz texts} makes it up.
     *
     * @param input in UTF-8
     */
    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        try {
            Key key = Key.deserialize(text);
            assertThat(key.serialize()).isEqualTo(text);
        } catch (IllegalArgumentException e) {
            // As documented.
        }
        assertThat(String.join(",", CombinedDsn.members(text))).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lk1.",
                "lk1.AA",
                "lk2.x",
                "lk1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "in-memory,null,redis://h,h",
                "combined:consensus(null,in-memory),flock",
                "((,))null,",
                ",,"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }
}

package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A URI is read, or refused as illegal, whatever it says. */
public final class TextFuzzTest {

    /**
     * Reads a text as {@code ./fuzz texts} makes it up.
     *
     * @param input in UTF-8
     */
    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        try {
            Uri unused = Uri.parse(text);
        } catch (IllegalArgumentException e) {
            // As documented.
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mongodb://",
                "mongodb+srv://u:p?@h/?collection=",
                "mongodb://h/?allowedClockSkew=99999999999999999999",
                "mongodb://h?collection=%zz"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }
}

package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A DSN is read, or refused as illegal, whatever it says. */
public final class TextFuzzTest {

    /**
     * Reads a text as {@code ./fuzz texts} makes it up.
     *
     * @param input in UTF-8
     */
    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        try {
            ConnectionSettings unused = ConnectionSettings.parse(text);
        } catch (IllegalArgumentException e) {
            // As documented.
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mysql+getlock://",
                "mysql+getlock://u:p@h:99999/d?sslMode=trust",
                "mariadb+getlock://u:%zz@h",
                "mysql+getlock://h?connectTimeout=x",
                "mysql+getlock://h?connectTimeout=99999999999999",
                "mysql+getlock://h?="
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }
}

package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
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
            DataSource unused = ConnectionSettings.parse(text).source();
        } catch (IllegalArgumentException e) {
            // As documented.
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql+advisory://",
                "postgresql+advisory://u:p@h:99999/d",
                "postgresql+advisory://h/d?connectTimeout=x",
                "postgresql+advisory://h/d?ssl=%zz",
                "postgresql+advisory://h/d?sslmode=x",
                "postgresql+advisory://h/%zz"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }

    /** A matcher that goes down a level for each host overflows the stack of its thread. */
    @Test
    void givenThousandsOfHosts_whenRead_thenNoMatterHowMany() {
        String text = "postgresql+advisory://" + "h:1,".repeat(20_000) + "h/d";

        assertThatCode(() -> ConnectionSettings.parse(text)).doesNotThrowAnyException();
    }
}

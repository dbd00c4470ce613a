package dev.latchkey.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextTest {

    @Test
    void givenControlCharacters_whenShown_thenVisible() {
        assertThat(Text.quoted("a\u001b[31m\nb")).isEqualTo("\"a\\u001b[31m\\u000ab\"");
    }

    @Test
    void givenLongName_whenShown_thenShortened() {
        assertThat(Text.oneLine("🔒".repeat(201))).isEqualTo("🔒".repeat(200) + "… (402 characters)");
        assertThat(Text.oneLine("🔒".repeat(200))).isEqualTo("🔒".repeat(200));
    }

    /** E8, E11, E12. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "release x 'lk1.c2V-j_cmV0': no; release x 'lk1.…': no",
                "cannot read jdbc:postgresql://me:se:cret@host/db; cannot read jdbc:postgresql://me:…@host/db",
                "unknown host: me:secret@host: away; unknown host: me:…@host: away",
                "redis://me@host:6379/0 is away; redis://me@host:6379/0 is away",
                "jdbc:x?user=me&password=secret&ssl=on; jdbc:x?user=me&password=…&ssl=on",
                "jdbc:x?sslpassword=secret&trustStorePassword=secret; jdbc:x?sslpassword=…&trustStorePassword=…",
            })
    void givenSecretInAMessage_whenShown_thenHidden(String message, String shown) {
        assertThat(Text.message(message)).isEqualTo(shown);
    }

    @Test
    void givenLongMessageOfTwoLines_whenShown_thenAllOfItOnOne() {
        assertThat(Text.message("x".repeat(300) + "\nlock: y\u2028z"))
                .isEqualTo("x".repeat(300) + "\\u000alock: y\\u2028z");
    }
}

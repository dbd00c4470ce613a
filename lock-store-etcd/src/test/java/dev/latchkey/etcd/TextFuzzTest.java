package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
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
            Dsn unused = Dsn.parse(text);
        } catch (IllegalArgumentException e) {
            // As documented.
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "etcd://",
                "etcd://a:b@h:99999,[::1]/root?timeout=5ms",
                "etcds://u:%zz@h",
                "etcd://h?timeout",
                "etcd://h?timeout=1s&&",
                "etcd://h,h"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }

    /** A matcher that goes down a level for each host overflows the stack of its thread. */
    @Test
    void givenThousandsOfHosts_whenRead_thenNoMatterHowMany() {
        String text = "etcd://" + "h:1,".repeat(20_000) + "h";

        assertThatCode(() -> Dsn.parse(text)).doesNotThrowAnyException();
    }
}

package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.lettuce.core.RedisURI;
import java.nio.charset.StandardCharsets;
import java.util.List;
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
            List<RedisURI> unused = Dsn.parse(text).addresses();
        } catch (IllegalArgumentException e) {
            // As documented.
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://",
                "redis://h:99999",
                "redis://u:%zz@h/x",
                "redis-cluster://h,h:1/1",
                "redis-sentinel://h/0#",
                "redis-sentinel://h/0#m",
                "redis://h?timeout=x",
                "redis://h?prefix=%",
                "redis://h/99999999999"
            })
    void givenAText_whenRead_thenReadOrRefusedAsIllegal(String text) {
        assertThatCode(() -> fuzzerTestOneInput(text.getBytes(StandardCharsets.UTF_8)))
                .doesNotThrowAnyException();
    }

    /** A matcher that goes down a level for each host overflows the stack of its thread. */
    @Test
    void givenThousandsOfHosts_whenRead_thenNoMatterHowMany() {
        String text = "redis-cluster://" + "h:1,".repeat(20_000) + "h";

        assertThatCode(() -> Dsn.parse(text)).doesNotThrowAnyException();
    }
}

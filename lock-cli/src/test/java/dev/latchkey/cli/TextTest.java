package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

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
}

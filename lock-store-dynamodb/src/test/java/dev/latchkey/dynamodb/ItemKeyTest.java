package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ItemKeyTest {

    private static final String EMOJI = "\uD83D\uDD12";

    @Test
    void givenAShortName_whenMapped_thenReadable() {
        assertThat(ItemKey.of("orders/4711")).isEqualTo("lock:orders/4711");
        assertThat(ItemKey.of("")).isEqualTo("lock:");
        assertThat(ItemKey.of(ItemKey.TOKENS)).isNotEqualTo(ItemKey.TOKENS);
    }

    @Test
    void givenLongNames_whenMapped_thenShortAndDifferent() {
        String one = ItemKey.of("k".repeat(16_384));
        String other = ItemKey.of("k".repeat(16_383) + "l");

        assertThat(one).isNotEqualTo(other).startsWith("long:");
        assertThat(one.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(2048);
        assertThat(ItemKey.of(one)).isNotEqualTo(one);
    }

    @Test
    void givenALongNameWithAPairAtItsEdge_whenMapped_thenThePairIsNotSplit() {
        String key = ItemKey.of("k".repeat(63) + EMOJI.repeat(400));

        assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(key)).isTrue();
    }

    @Test
    void givenTheLongestPlainName_whenMapped_thenItFits() {
        assertThat(ItemKey.of("k".repeat(1024)).getBytes(StandardCharsets.UTF_8))
                .hasSizeLessThan(2048);
    }
}

package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResourceNameTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "report", "$where", "$$NOW", "a.b", "Übung", "nul\u0000inside", "#"})
    void givenAShortName_whenMapped_thenItself(String resource) {
        assertThat(ResourceName.of(resource)).isEqualTo(resource);
    }

    @Test
    void givenALongName_whenMapped_thenShortAndNobodyElses() {
        String one = ResourceName.of("k".repeat(600) + "a");
        String other = ResourceName.of("k".repeat(600) + "b");

        assertThat(one).startsWith("kkkk").isNotEqualTo(other).hasSizeLessThan(512);
    }

    /** What a long name becomes is a name that somebody may have chosen. */
    @Test
    void givenANameAsALongOneBecomes_whenMapped_thenItIsAnother() {
        String mapped = ResourceName.of("k".repeat(600));

        assertThat(ResourceName.of(mapped)).isNotEqualTo(mapped);
    }

    @Test
    void givenAPairAtTheCut_whenMapped_thenNotSplit() {
        String mapped = ResourceName.of("k" + "\uD83D\uDD12".repeat(400));

        assertThat(new String(mapped.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(mapped);
    }
}

package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.bson.types.Decimal128;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionTest {

    @Test
    void givenAnyVersion_whenWrittenAndParsed_thenEqual() {
        for (Version version : List.of(
                Version.of(184),
                Version.of(1L << 40),
                Version.of(Decimal128.parse("12345678901234567890123456789012")),
                Version.of(Instant.parse("2030-01-31T12:00:00.123Z")))) {
            assertThat(Version.parse(version.toString())).isEqualTo(version).hasSameHashCodeAs(version);
        }
    }

    @Test
    void givenSameNumberOfAnotherType_whenCompared_thenDifferent() {
        assertThat(Version.of(7)).isNotEqualTo(Version.of(7L)).hasToString("int:7");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "int:", "int:x", "int:99999999999", "date:yesterday", "decimal128:x", "text:7"})
    void givenSomethingElse_whenParsed_thenItSaysWhatWouldBeRight(String text) {
        assertThatThrownBy(() -> Version.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("int:184");
    }

    @Test
    void givenNumbers_whenNext_thenOneMoreAndAtLeastOne() {
        assertThat(Version.of(3).next()).isEqualTo(Version.of(4));
        assertThat(Version.of(-5).next()).isEqualTo(Version.of(1));
        assertThat(Version.of(0L).next()).isEqualTo(Version.of(1L));
        assertThat(Version.of(Decimal128.parse("41")).next()).isEqualTo(Version.of(Decimal128.parse("42")));
    }

    @Test
    void givenGreatestNumber_whenNext_thenFailsInsteadOfBeginningAgain() {
        assertThatThrownBy(() -> Version.of(Integer.MAX_VALUE).next()).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> Version.of(Long.MAX_VALUE).next()).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void givenDateAheadOfTheClock_whenNext_thenStillLater() {
        Instant ahead =
                Instant.ofEpochMilli(Instant.now().plus(Duration.ofHours(1)).toEpochMilli());

        assertThat(Version.of(ahead).next()).isEqualTo(Version.of(ahead.plusMillis(1)));
    }

    @Test
    void givenManyDatesInOneMillisecond_whenNext_thenNoTwoAreEqual() {
        Version version = Version.Type.DATE.first();
        for (int i = 0; i < 1_000; i++) {
            Version next = version.next();
            assertThat(next.value().asDateTime()).isGreaterThan(version.value().asDateTime());
            version = next;
        }
    }
}

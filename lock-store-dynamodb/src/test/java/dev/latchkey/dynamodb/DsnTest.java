package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DsnTest {

    @Test
    void givenRegionAndTable_whenParsed_thenDefaults() {
        Dsn dsn = Dsn.parse("dynamodb://eu-central-1/my.locks_2");

        assertThat(dsn.region()).isEqualTo("eu-central-1");
        assertThat(dsn.table()).isEqualTo("my.locks_2");
        assertThat(dsn.endpoint()).isEmpty();
        assertThat(dsn.createsTable()).isFalse();
        assertThat(dsn.timeout()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void givenOptions_whenParsed_thenTaken() {
        Dsn dsn =
                Dsn.parse("dynamodb://us-east-1/locks?create-table=true&timeout=250ms&endpoint=http://127.0.0.1:8000");

        assertThat(dsn.createsTable()).isTrue();
        assertThat(dsn.timeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(dsn.endpoint()).contains(URI.create("http://127.0.0.1:8000"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "dynamodb:",
                "dynamodb://",
                "dynamodb://eu-central-1",
                "dynamodb://eu-central-1/",
                "dynamodb://eu-central-1/ab",
                "dynamodb://eu-central-1/locks/secret",
                "dynamodb://key:secret@eu-central-1/locks",
                "dynamodb://eu-central-1/locks?secret",
                "dynamodb://eu-central-1/locks?secret=secret",
                "dynamodb://eu-central-1/locks?create-table=secret",
                "dynamodb://eu-central-1/locks?timeout=0s",
                "dynamodb://eu-central-1/locks?timeout=5",
                "dynamodb://eu-central-1/locks?timeout=secret",
                "dynamodb://eu-central-1/locks?endpoint=ftp://secret",
                "dynamodb://eu-central-1/locks?endpoint=http://key:secret@host",
                "dynamodb://eu-central-1/locks?endpoint=http://host/?secret"
            })
    void givenAnythingElse_whenParsed_thenRefusedWithWhatIsRightAndWithoutItsText(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Dsn.parse(dsn))
                .withMessageContaining("dynamodb://region/table")
                .withMessageNotContaining("secret");
    }
}

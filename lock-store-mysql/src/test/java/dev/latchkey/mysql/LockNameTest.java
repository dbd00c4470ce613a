package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

    private static final String REPORT_IN_CAPITALS = "sha256:b6ce788d9786917c9d19adaa0d904213365607c7f683d7277f508dcf";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "report",
                "orders/42:line-7@eu.example#a_b",
                "0123456789012345678901234567890123456789012345678901234567890123"
            })
    void givenANameOfTheServer_whenNamed_thenItIsKept(String resource) {
        assertThat(LockName.of(resource).value()).isEqualTo(resource);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Report",
                "report ",
                "r\u00e9port",
                "it's",
                "back\\slash",
                "line\n",
                "sha256:",
                "01234567890123456789012345678901234567890123456789012345678901234"
            })
    void givenAnyOtherName_whenNamed_thenItIsHashedToLessThanTheServersLimit(String resource) {
        assertThat(LockName.of(resource).value()).matches("sha256:[0-9a-f]{56}");
    }

    @Test
    void givenAResourceThatLooksLikeAHash_whenNamed_thenItIsHashedItself() {
        String hash = LockName.of("Report").value();

        assertThat(LockName.of(hash).value()).isNotEqualTo(hash);
    }

    /** Another version, or another program, must find the same lock. */
    @Test
    void givenAHashedName_whenNamed_thenAsTheServerComputesIt() {
        assertThat(LockName.of("Report").value()).isEqualTo(REPORT_IN_CAPITALS);
    }
}

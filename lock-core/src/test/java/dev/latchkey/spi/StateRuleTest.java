package dev.latchkey.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of docs/hierarchical-locks.md: which of two numbers an editor must know. */
class StateRuleTest {

    @ParameterizedTest
    @CsvSource({
        "BOTH_INDEXES,    EXCLUSIVE, 5, 8, 8",
        "BOTH_INDEXES,    EXCLUSIVE, 8, 5, 8",
        "BOTH_INDEXES,    SHARED,    5, 8, 5",
        "EXCLUSIVE_INDEX, EXCLUSIVE, 5, 8, 5",
        "EXCLUSIVE_INDEX, SHARED,    5, 8, 0"
    })
    void givenIndexes_thenTheCallerMustKnow(StateRule rule, LockMode mode, long exclusive, long shared, long known) {
        assertThat(rule.required(mode, new StateIndex(exclusive, shared))).isEqualTo(known);
    }
}

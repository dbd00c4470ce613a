package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.chaos.FaultKind.Lane;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FaultsTest {

    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);
    private static final Duration LENGTH = Duration.ofMinutes(60);

    private static List<Fault> drawn(long seed, Lane lane) {
        return Faults.draw(seed, lane, ALL, 4, 3, LENGTH, FaultSchedule.CHANGING);
    }

    @Test
    void givenTheSameSeed_whenDrawnAgain_thenTheFaultsAreTheSame() {
        assertThat(drawn(42, Lane.BACKEND)).isEqualTo(drawn(42, Lane.BACKEND)).isNotEqualTo(drawn(43, Lane.BACKEND));
    }

    @Test
    void givenALane_whenDrawnForMinutes_thenAllItsKindsStrikeInTimeAndNoOther() {
        for (Lane lane : Lane.values()) {
            assertThat(drawn(7, lane))
                    .allSatisfy(fault -> {
                        assertThat(fault.atMillis()).isLessThan(LENGTH.toMillis());
                        assertThat(fault.place()).isBetween(Fault.EVERYWHERE, 3);
                        assertThat(fault.server()).isBetween(0, 2);
                    })
                    .extracting(Fault::kind)
                    .containsOnly(
                            ALL.stream().filter(kind -> kind.lane() == lane).toArray(FaultKind[]::new));
        }
    }

    @Test
    void givenNoServers_whenDrawnForThem_thenNothing() {
        Set<FaultKind> processes = EnumSet.of(FaultKind.CRASH, FaultKind.FREEZE);

        assertThat(Faults.draw(1, Lane.BACKEND, processes, 4, 0, LENGTH, FaultSchedule.CHANGING))
                .isEmpty();
        assertThat(Faults.draw(1, Lane.PROCESSES, processes, 4, 0, LENGTH, FaultSchedule.CHANGING))
                .isNotEmpty();
    }
}

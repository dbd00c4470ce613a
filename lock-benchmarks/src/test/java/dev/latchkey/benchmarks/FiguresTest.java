package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which figures are refused. */
class FiguresTest {

    @Test
    void givenTurnsThatGetFasterAndFaster_thenUnsteady() {
        assertThat(row(100, 110, 115, 120, 128, 130, 135).trend()).isGreaterThan(1.15);
    }

    @Test
    void givenOneSlowTurnAtTheBeginning_thenSteady() {
        assertThat(row(50, 110, 115, 112, 111, 114, 113).trend()).isLessThan(1.05);
    }

    @Test
    void givenTooFewTurnsToTell_thenSteady() {
        assertThat(row(100, 200, 400).trend()).isEqualTo(1);
    }

    @Test
    void givenTurns_thenTheRangeIsThatOfTheSlowestAndTheFastest() {
        assertThat(row(120, 100, 130).slowestTurn()).isEqualTo(100);
        assertThat(row(120, 100, 130).fastestTurn()).isEqualTo(130);
    }

    private static Figures.Row row(double... cyclesPerSecond) {
        List<MeasuredTurn> turns = Arrays.stream(cyclesPerSecond)
                .mapToObj(speed ->
                        new MeasuredTurn(speed, List.of(1L), null, null, 0, MeasuredTurn.Times.of(new Latencies())))
                .toList();
        return new Figures.Row("peer", Contender.Role.PEER, Contender.Mode.EXCLUSIVE, "", turns, null);
    }
}

package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which figures are refused. */
class FiguresTest {

    private static final double[] FASTER_AND_FASTER = {
        100, 105, 110, 113, 115, 118, 120, 124, 128, 130, 131, 133, 135, 136
    };

    @Test
    void givenTurnsThatGetFasterAndFaster_thenUnsteady() {
        Figures.Row row = row(FASTER_AND_FASTER);

        assertThat(row.trend()).isGreaterThan(1.15);
        assertThat(table(row).unsteady())
                .singleElement()
                .asString()
                .contains("peer")
                .contains("alone");
    }

    @Test
    void givenAMachineThatGetsFasterByAsMuch_thenSteady() {
        Figures.Row row = row(measured(FASTER_AND_FASTER, FASTER_AND_FASTER));

        assertThat(row.trend()).isEqualTo(1);
        assertThat(table(row).unsteady()).isEmpty();
    }

    @Test
    void givenAMachineThatGetsSlower_thenWhoStaysAsFastAsItWasIsUnsteady() {
        double[] slower = IntStream.range(0, 14).mapToDouble(i -> 140 - 3 * i).toArray();
        double[] even = IntStream.range(0, 14).mapToDouble(i -> 100).toArray();

        assertThat(row(measured(even, slower)).trend()).isGreaterThan(1.15);
    }

    @Test
    void givenTwoSlowTurnsAtTheBeginning_thenSteady() {
        assertThat(row(50, 60, 115, 112, 111, 114, 113, 110, 112, 116, 115, 113, 114, 112)
                        .trend())
                .isLessThan(1.05);
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

    private static Figures.Measured table(Figures.Row row) {
        return new Figures.Measured("alone", "alone", "", "", 1, 1, 1, List.of(row));
    }

    private static Figures.Row row(double... cyclesPerSecond) {
        return row(Arrays.stream(cyclesPerSecond)
                .mapToObj(speed -> turn(speed, null))
                .toList());
    }

    private static Figures.Row row(List<MeasuredTurn> turns) {
        return new Figures.Row("peer", Contender.Role.PEER, Contender.Mode.EXCLUSIVE, "", turns, null);
    }

    private static List<MeasuredTurn> measured(double[] cyclesPerSecond, double[] machineSpeeds) {
        return IntStream.range(0, machineSpeeds.length)
                .mapToObj(i -> turn(cyclesPerSecond[i], machineSpeeds[i]))
                .toList();
    }

    private static MeasuredTurn turn(double cyclesPerSecond, @Nullable Double machineSpeed) {
        return new MeasuredTurn(
                cyclesPerSecond, machineSpeed, List.of(1L), null, null, 0, MeasuredTurn.Times.of(new Latencies()));
    }
}

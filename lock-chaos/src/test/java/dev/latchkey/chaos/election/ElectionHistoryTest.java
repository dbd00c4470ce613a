package dev.latchkey.chaos.election;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The judge of elections sees what it is there for, and nothing else. */
class ElectionHistoryTest {

    private static final Duration STOP_TIME = Duration.ofNanos(100);

    private static List<String> offences(BelievedTerm... terms) {
        return new ElectionHistory(STOP_TIME, List.of(terms), List.of(), List.of()).offences();
    }

    private static BelievedTerm term(long number, long since, long until, long returned) {
        return new BelievedTerm("candidate-" + number, number, since, until, OptionalLong.of(returned));
    }

    @Test
    void givenTermsOneAfterTheOther_thenNone() {
        assertThat(offences(term(1, 0, 10, 12), term(2, 13, 20, 22), term(3, 23, 30, 33)))
                .isEmpty();
    }

    @Test
    void givenTwoWhoBelieveAtOnce_thenFound() {
        assertThat(offences(term(1, 0, 10, 500), term(2, 10, 20, 22)))
                .singleElement()
                .asString()
                .startsWith("two leaders");
    }

    @Test
    void givenANumberThatDoesNotGrow_thenFound() {
        assertThat(offences(term(2, 0, 10, 11), term(2, 13, 20, 22)))
                .singleElement()
                .asString()
                .startsWith("a number that does not grow");
    }

    @Test
    void givenACallbackThatReturnedInTimeAndBesideTheNext_thenFound() {
        assertThat(offences(term(1, 0, 10, 15), term(2, 14, 20, 22)))
                .singleElement()
                .asString()
                .startsWith("two callbacks");
    }

    @Test
    void givenStrikesOfWhichOneWasFollowed_whenReported_thenAllAreCounted() {
        ElectionHistory history = new ElectionHistory(
                STOP_TIME,
                List.of(),
                List.of(ElectionFault.RESTART_SERVER, ElectionFault.KILL, ElectionFault.KILL),
                List.of(new TakeOver(ElectionFault.KILL, 3_000_000)));

        assertThat(history.figures().lines())
                .satisfiesExactly(
                        kill -> assertThat(kill).contains("KILL", "2 times", "1 times followed", "3 ms (longest)"),
                        restart ->
                                assertThat(restart).contains("RESTART_SERVER").endsWith("1 times"));
    }

    /** As of a process that was frozen, or killed. */
    @Test
    void givenACallbackThatReturnedTooLateOrNever_thenNone() {
        assertThat(offences(term(1, 0, 10, 111), term(2, 14, 20, 22))).isEmpty();
        assertThat(offences(new BelievedTerm("killed", 1, 0, 10, OptionalLong.empty()), term(2, 14, 20, 22)))
                .isEmpty();
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryTest {

    @TempDir
    Path directory;

    private HistoryLog log;

    @BeforeEach
    void open() {
        log = new HistoryLog(directory.resolve("a"));
    }

    @AfterEach
    void close() {
        log.close();
    }

    private void exclusive(String hold, long token, long from, long until) {
        log.held(hold, hold, "r", LockMode.EXCLUSIVE, OptionalLong.of(token), from, until);
    }

    private void shared(String hold, long from, long until) {
        log.held(hold, hold, "r", LockMode.SHARED, OptionalLong.empty(), from, until);
    }

    private List<String> violations() throws IOException {
        return History.read(directory).violations();
    }

    @Test
    void givenHoldsOneAfterTheOther_whenJudged_thenWell() throws Exception {
        exclusive("a", 1, 0, 100);
        log.ended("a", 50);
        exclusive("b", 2, 50, 100);

        assertThat(violations()).isEmpty();
    }

    @Test
    void givenTwoAtOnce_whenJudged_thenSeen() throws Exception {
        exclusive("a", 1, 0, 100);
        exclusive("b", 2, 99, 200);

        assertThat(violations()).singleElement().asString().contains("two at once");
    }

    @Test
    void givenAnExtendedHold_whenTheNextBeginsInIt_thenSeen() throws Exception {
        exclusive("a", 1, 0, 100);
        log.extended("a", 300);
        exclusive("b", 2, 200, 400);

        assertThat(violations()).singleElement().asString().contains("two at once");
    }

    @Test
    void givenALongHoldAndAShortOne_whenAnotherBeginsAfterTheShortOne_thenTheLongOneIsNotForgotten() throws Exception {
        shared("a", 0, 1_000);
        shared("b", 10, 20);
        exclusive("c", 1, 500, 600);

        assertThat(violations()).singleElement().asString().contains("two at once");
    }

    @Test
    void givenReaders_whenAtOnce_thenWell() throws Exception {
        shared("a", 0, 100);
        shared("b", 0, 100);

        assertThat(violations()).isEmpty();
    }

    @Test
    void givenTokenThatDoesNotGrow_whenJudged_thenSeen() throws Exception {
        exclusive("a", 5, 0, 100);
        exclusive("b", 5, 100, 200);

        assertThat(violations()).singleElement().asString().contains("token after 5");
    }

    @Test
    void givenLostData_whenTheNextBegins_thenWellButTheTokenHasToGrow() throws Exception {
        exclusive("a", 5, 0, Duration.ofSeconds(10).toNanos());
        log.dataLost(50);
        exclusive("b", 4, Duration.ofSeconds(2).toNanos(), Duration.ofSeconds(3).toNanos());

        assertThat(violations()).singleElement().asString().contains("token after 5");
    }

    @Test
    void givenAnAnomaly_whenJudged_thenSeen() throws Exception {
        log.anomaly("hangs");

        assertThat(violations()).containsExactly("anomaly hangs");
    }
}

package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers wait for their disk as those in use do, unless the title of the table says otherwise. */
class FsyncIT {

    static Stream<Arguments> tables() {
        return Stream.of(new Jdbc(), new ZooKeeper())
                .flatMap(contest -> contest.tables().stream()
                        .map(table -> Arguments.of(contest, table, contest.store(), table.name())));
    }

    @ParameterizedTest(name = "{2} {3}")
    @MethodSource("tables")
    void givenTable_whenItsServersHaveWritten_thenTheyHaveWaitedForTheDiskUnlessTheTitleSaysOtherwise(
            Contest contest, Table table, String store, String name) {
        String expected = table.title().endsWith(", without fsync") ? ", fsync off" : ", fsync on";

        try (Servers servers = contest.start(table)) {
            assertThat(servers.software()).as("%s %s", store, name).endsWith(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("contests")
    void givenContest_thenOneThreadAndEightAreMeasuredInBothWays(Contest contest) {
        List<String> titles = contest.tables().stream().map(Table::title).toList();

        assertThat(titles)
                .contains(
                        "uncontended: 1 thread",
                        "contended: 8 threads of one JVM, one lock",
                        "uncontended: 1 thread, without fsync",
                        "contended: 8 threads of one JVM, one lock, without fsync");
    }

    static Stream<Contest> contests() {
        return Stream.of(new Jdbc(), new ZooKeeper());
    }
}

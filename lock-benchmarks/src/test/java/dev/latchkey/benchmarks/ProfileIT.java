package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./benchmark --profile} writes. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the profiler's timer is Linux's")
class ProfileIT {

    @TempDir
    private Path directory;

    @Test
    void givenAContest_whenProfiled_thenEachContenderHasAFlameGraphOfItsOwnCode() throws Exception {
        Contest contest = new Flock();
        Table table = contest.tables().get(0);

        List<Path> written = new Profile(contest, Effort.QUICK, directory).of(List.of(table));

        assertThat(written).hasSameSizeAs(table.contenders());
        // Of a name the graph leaves out what it has in common with the one before, such as "de" after "decode".
        assertThat(Files.readString(written.get(0)))
                .contains(table.contenders().get(0).title())
                .contains("/latchkey/");
    }
}

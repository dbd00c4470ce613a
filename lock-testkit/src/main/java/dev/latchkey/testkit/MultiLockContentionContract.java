package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.BatchStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes acquire random sets of the same resources, again and again: none of them waits for ever, and no resource is held by
 * two. For a {@link BatchStore} that several processes can reach. With the system property {@code latchkey.multi.holds}, each
 * process acquires as often as that says.
 */
@ContractFor(value = BatchStore.class, unless = SingleProcessContract.class)
public interface MultiLockContentionContract extends ProcessesContract {

    /** The names of the resources end with these numbers. */
    int RESOURCES = 6;

    /**
     * Returns how many processes take part.
     *
     * @return 3 unless overridden
     */
    default int multiLockProcesses() {
        return 3;
    }

    /**
     * Returns how often each process acquires a set.
     *
     * @return 25 unless overridden or said by the system property
     */
    default int multiLockHolds() {
        return Integer.getInteger("latchkey.multi.holds", 25);
    }

    @Test
    @Tag("slow")
    default void givenProcesses_whenEachAcquiresRandomSetsThatOverlap_thenNoneWaitsForEverAndNoUpdateIsLost(
            Fixture fixture, @TempDir Path directory) throws Exception {
        for (int i = 0; i < RESOURCES; i++) {
            Files.createDirectory(directory.resolve(Integer.toString(i)));
        }
        int holds = multiLockHolds();
        Duration limit = TimeLimits.LIMIT.plus(Duration.ofMillis(100L * holds * multiLockProcesses()));
        List<SecondProcess> processes = SecondProcess.connect(dsn(), multiLockProcesses());
        long acquired = 0;
        try {
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < processes.size(); i++) {
                replies.add(processes.get(i).incrementSets(directory, fixture.resource(), LONG_TTL, holds, i));
            }
            for (Reply reply : replies) {
                Awaitility.await("a process to acquire all its sets")
                        .atMost(limit)
                        .until(reply::isDone);
                acquired += Long.parseLong(reply.text());
            }
        } finally {
            processes.forEach(SecondProcess::close);
        }

        long counted = 0;
        for (int i = 0; i < RESOURCES; i++) {
            Tally tally = new Tally(directory.resolve(Integer.toString(i)));
            counted += tally.number();
            assertHeldByOneAtATime(tally);
        }
        assertThat(counted).isEqualTo(acquired);
    }

    private static void assertHeldByOneAtATime(Tally tally) throws IOException {
        List<Tally.Entry> entries = tally.entries();
        assertThat(entries.stream().mapToLong(Tally.Entry::number))
                .containsExactly(LongStream.range(0, tally.number()).boxed().toArray(Long[]::new));
        long last = 0;
        for (Tally.Entry entry : entries) {
            long token = entry.fencingToken().orElseThrow();
            assertThat(token)
                    .as("fencing token of the hold that read " + entry.number())
                    .isGreaterThan(last);
            last = token;
        }
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.PersistingStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several processes at once change a number in a file under the lock: no update is lost, tokens grow in the order of the
 * holds, and processes killed in the middle leave no lock behind. For every store that several processes can reach.
 */
@ContractFor(value = PersistingStore.class, unless = SingleProcessContract.class)
public interface ProcessContentionContract extends ProcessesContract {

    /**
     * Returns how many processes take part.
     *
     * @return 3 unless overridden
     */
    default int processes() {
        return 3;
    }

    /**
     * Returns how often each of them takes the lock.
     *
     * @return 100 unless overridden
     */
    default int holdsPerProcess() {
        return 100;
    }

    @Test
    @Tag("slow")
    default void givenProcesses_whenEachIncrementsANumber_thenNoUpdateIsLost(Fixture fixture, @TempDir Path directory)
            throws Exception {
        Tally tally = new Tally(directory);
        List<SecondProcess> processes = SecondProcess.connect(dsn(), processes());
        try {
            List<Reply> replies = new ArrayList<>();
            for (SecondProcess process : processes) {
                replies.add(process.increment(tally, fixture.resource(), LONG_TTL, holdsPerProcess()));
            }

            replies.forEach(reply -> assertThat(reply.text()).isEqualTo(Integer.toString(holdsPerProcess())));

            long total = (long) processes() * holdsPerProcess();
            assertThat(tally.number()).isEqualTo(total);
            assertThat(tally.entries().stream().mapToLong(Tally.Entry::number))
                    .containsExactly(LongStream.range(0, total).boxed().toArray(Long[]::new));
            assertTokensGrow(tally);
        } finally {
            processes.forEach(SecondProcess::close);
        }
        assertThat(fixture.lock().tryAcquire()).isTrue();
    }

    @Test
    @Tag("slow")
    default void givenProcesses_whenSomeAreKilledAtRandom_thenNoUpdateIsLostAndNoLockIsLeft(
            Fixture fixture, @TempDir Path directory) throws Exception {
        Tally tally = new Tally(directory);
        // For a victim that holds: the others lose nothing while they stand still.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(8));
        List<SecondProcess> processes = SecondProcess.connect(dsn(), processes() + 1);
        try {
            List<Reply> replies = new ArrayList<>();
            for (SecondProcess process : processes) {
                replies.add(process.increment(tally, fixture.resource(), ttl, holdsPerProcess()));
            }
            List<SecondProcess> killed = processes.subList(2, processes.size());
            for (SecondProcess victim : killed) {
                long killAt = tally.number() + ThreadLocalRandom.current().nextInt(1, holdsPerProcess() / 3);
                awaitNumber(tally, killAt, replies.subList(0, 2));
                victim.kill();
            }

            replies.subList(0, 2).forEach(Reply::text);

            assertThat(tally.number()).isGreaterThanOrEqualTo(2L * holdsPerProcess());
            assertThat(tally.entries().stream().mapToLong(Tally.Entry::number).distinct())
                    .containsExactly(
                            LongStream.range(0, lastNumber(tally) + 1).boxed().toArray(Long[]::new));
            // Who was killed between its two writes is in the record, and its number was read again by the next.
            assertThat(tally.entries().size() - tally.number())
                    .as("holds that were not counted")
                    .isBetween(0L, (long) killed.size());
            assertTokensGrow(tally);
        } finally {
            processes.forEach(SecondProcess::close);
        }
        assertThat(fixture.lock().tryAcquire(ttl.multipliedBy(5))).isTrue();
    }

    /** Returns also once nobody will get there, since this thread stood still meanwhile. */
    private static void awaitNumber(Tally tally, long number, List<Reply> survivors) {
        Awaitility.await("the number to reach " + number)
                .pollInterval(Duration.ofMillis(1))
                .atMost(SecondProcess.LIMIT)
                .until(() -> tally.number() >= number || survivors.stream().allMatch(Reply::isDone));
    }

    private static long lastNumber(Tally tally) throws IOException {
        List<Tally.Entry> entries = tally.entries();
        return entries.get(entries.size() - 1).number();
    }

    private static void assertTokensGrow(Tally tally) throws IOException {
        long last = 0;
        for (Tally.Entry entry : tally.entries()) {
            if (entry.fencingToken().isPresent()) {
                assertThat(entry.fencingToken().getAsLong())
                        .as("fencing token of the hold that read " + entry.number())
                        .isGreaterThan(last);
                last = entry.fencingToken().getAsLong();
            }
        }
    }
}

package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.SemaphoreStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Eight processes acquire permits of one semaphore, different numbers of them, and do not agree on how many there are: for a
 * {@link SemaphoreStore} that several processes can reach. With the system property {@code latchkey.permits.holds}, each process
 * acquires as often as that says.
 */
@ContractFor(value = SemaphoreStore.class, unless = SingleProcessContract.class)
public interface SemaphoreContentionContract extends ProcessesContract {

    /**
     * Returns how often each process acquires permits.
     *
     * @return 25 unless overridden or said by the system property
     */
    default int permitHolds() {
        return Integer.getInteger("latchkey.permits.holds", 25);
    }

    @Test
    @Tag("slow")
    default void givenEightProcesses_whenTheyAcquireAndRelease_thenNeverMoreAreHeldThanOneOfThemKnows(
            Fixture fixture, @TempDir Path directory) {
        int permits = 4;
        int holds = permitHolds();
        List<SecondProcess> processes = SecondProcess.connect(dsn(), 8);
        Duration limit = TimeLimits.LIMIT.plus(Duration.ofMillis(100L * holds * processes.size()));
        try {
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < processes.size(); i++) {
                replies.add(processes
                        .get(i)
                        .countPermits(directory.resolve("held"), fixture.resource(), permits, LONG_TTL, holds, i));
            }
            for (Reply reply : replies) {
                Awaitility.await("a process to hold permits as often as it was to")
                        .atMost(limit)
                        .until(reply::isDone);
                assertThat(reply.text()).isEqualTo(Integer.toString(holds));
            }
        } finally {
            processes.forEach(SecondProcess::close);
        }

        assertThat(Semaphores.of(fixture, permits).holders()).isEmpty();
    }
}

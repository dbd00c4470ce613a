package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.testkit.RemoteFailure;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process whose clock is another: neither leases nor tokens depend on it. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ClientClockIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofSeconds(5));

    @ParameterizedTest
    @ValueSource(strings = {"+1h", "-1h"})
    void givenAClientWhoseClockIsAnHourOff_whenItHoldsAndTries_thenItIsAsAnyOther(String offset) throws Exception {
        String resource = "clock" + offset + System.nanoTime();
        try (LockFactory locks = LockFactory.connect(DynamoDbServer.sharedDsn());
                SecondProcess other = SecondProcess.connect(DynamoDbServer.sharedDsn(), clock(offset))) {
            Lock here = locks.createLock(resource, LONG).acquire();
            awaitConnected(other.lock(resource + "-other", LONG));
            RemoteLock there = other.lock(resource, SHORT);
            assertThat(there.tryAcquire()).as("while it is held here").isFalse();
            long before = here.fencingToken().orElseThrow();
            assertThat(here.release()).isTrue();

            assertThat(there.tryAcquire()).isTrue();

            assertThat(there.fencingToken()).hasValue(before + 1);
            Lock next = locks.createLock(resource, LONG);
            long firstLook = System.nanoTime();
            assertThat(next.tryAcquire()).as("while it is held there").isFalse();
            assertThat(next.tryAcquire(SHORT.plus(TimeLimits.LIMIT)))
                    .as("once its lease is over")
                    .isTrue();
            assertThat(Duration.ofNanos(System.nanoTime() - firstLook)).isGreaterThanOrEqualTo(SHORT);
            assertThat(there.isExpired()).isTrue();
            assertThat(next.fencingToken()).hasValue(before + 2);
        }
    }

    /** A process whose every look at the clock goes another way is slow to begin with. */
    private static void awaitConnected(RemoteLock lock) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(RemoteFailure.class)
                .until(lock::tryAcquire);
    }

    /**
     * What gives a process another time of day; the clock that measures its leases goes on as it is, and so do its waits, which
     * libfaketime otherwise ends at once: each thread of the JVM that waits would keep a core busy.
     */
    private static Map<String, String> clock(String offset) throws IOException {
        try (Stream<Path> files =
                Files.find(Path.of("/usr/lib"), 4, (path, attributes) -> path.endsWith("faketime/libfaketime.so.1"))) {
            Path library = files.findFirst()
                    .orElseThrow(() -> new AssertionError("no libfaketime here: \"apt-get install faketime\""));
            return Map.of(
                    "LD_PRELOAD",
                    library.toString(),
                    "FAKETIME",
                    offset,
                    "FAKETIME_DONT_FAKE_MONOTONIC",
                    "1",
                    "FAKETIME_FORCE_MONOTONIC_FIX",
                    "0");
        }
    }
}

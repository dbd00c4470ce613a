package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.store.InMemoryStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a flight recording says of locks, and that a JVM without the flight recorder has locks. */
class FlightRecorderTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void givenARecording_thenItHasEachAcquireHoldLossAndCall() throws Exception {
        InMemoryStore store = new InMemoryStore();
        String token;
        try (Recording recording = new Recording();
                LockFactory locks = new LockFactory(store)) {
            recording.start();
            Lock lock = locks.createLock("orders", TTL);
            lock.acquire();
            token = lock.key().token();
            assertThat(locks.createLock("orders", TTL).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            lock.acquire();
            store.delete(lock.key());
            assertThat(lock.release()).isFalse();
            recording.stop();
            recording.dump(file());
        }

        Map<String, List<RecordedEvent>> events = events();
        assertThat(events.get("dev.latchkey.Acquire"))
                .extracting(event -> event.getString("outcome"))
                .containsExactly("acquired", "conflicted", "acquired");
        assertThat(events.get("dev.latchkey.Acquire")).allSatisfy(event -> {
            assertThat(event.getString("resource")).isEqualTo("orders");
            assertThat(event.getString("mode")).isEqualTo("EXCLUSIVE");
            assertThat(event.getDuration("waited")).isPositive();
            assertThat(event.getThread().getJavaName())
                    .isEqualTo(Thread.currentThread().getName());
        });
        assertThat(events.get("dev.latchkey.Hold"))
                .extracting(event -> event.getString("ending"))
                .containsExactly("RELEASED", "RELEASED_ELSEWHERE");
        assertThat(events.get("dev.latchkey.Hold"))
                .allSatisfy(event -> assertThat(event.getDuration()).isPositive());
        assertThat(events.get("dev.latchkey.Loss"))
                .extracting(event -> event.getString("reason"))
                .containsExactly("RELEASED_ELSEWHERE");
        assertThat(events.get("dev.latchkey.StoreCall"))
                .extracting(event -> event.getString("operation"))
                .contains("RELEASE")
                .containsAnyOf("ACQUIRE", "WAIT");
        assertThat(Files.readString(file(), StandardCharsets.ISO_8859_1))
                .contains("orders")
                .doesNotContain(token);
        assertThat(events.values().toString()).doesNotContain(token);
    }

    @Test
    void givenHoldFromBeforeTheRecording_thenItIsNotRecorded() throws Exception {
        try (LockFactory locks = new LockFactory(new InMemoryStore())) {
            Lock lock = locks.createLock("orders", TTL);
            lock.acquire();
            try (Recording recording = new Recording()) {
                recording.start();
                assertThat(lock.release()).isTrue();
                recording.stop();
                recording.dump(file());
            }
        }

        assertThat(events()).containsKey("dev.latchkey.StoreCall").doesNotContainKey("dev.latchkey.Hold");
    }

    /** Such as one that jlink has made for an application. */
    @Test
    void givenAJvmWithoutTheFlightRecorder_thenItHasLocks() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process process = new ProcessBuilder(
                        java.toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--limit-modules",
                        "java.base,java.logging",
                        "-cp",
                        System.getProperty("java.class.path"),
                        WithoutFlightRecorder.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(said).contains("no recorder: acquired and released");
        assertThat(process.exitValue()).isZero();
    }

    static final class WithoutFlightRecorder {

        private WithoutFlightRecorder() {}

        public static void main(String[] args) throws Exception {
            boolean isThere = ModuleLayer.boot().findModule("jdk.jfr").isPresent();
            try (LockFactory locks = LockFactory.builder(new InMemoryStore())
                            .listener(new LockListener() {})
                            .build();
                    Lock lock = locks.createLock("orders", TTL).acquire()) {
                System.out.println(
                        (isThere ? "a" : "no") + " recorder: " + (lock.release() ? "acquired and released" : "lost"));
            }
        }
    }

    private Path file() {
        return directory.resolve("locks.jfr");
    }

    private Map<String, List<RecordedEvent>> events() throws IOException {
        return RecordingFile.readAllEvents(file()).stream()
                .filter(event -> event.getEventType().getName().startsWith("dev.latchkey."))
                .collect(groupingBy(event -> event.getEventType().getName(), Collectors.toList()));
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What becomes of holds when a JVM begins to exit while another of its shutdown hooks still has work to do. */
class JvmExitIT {

    @Test
    void givenHeld_whenTheJvmExits_thenReleasedThoughWorkGoesOn() throws Exception {
        assertThat(heldInTheExit("closed-at-exit")).isEqualTo("released");
    }

    @Test
    void givenAFactoryThatIsLeftToItsOwner_whenTheJvmExits_thenHeldUntilTheOwnerClosesIt() throws Exception {
        assertThat(heldInTheExit("left-to-its-owner")).isEqualTo("held");
    }

    private static String heldInTheExit(String whose) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Exiting.class.getName(),
                        whose)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return printed.strip();
    }

    /** Holds a lock, exits, and prints from a hook of its own what it then sees. */
    static final class Exiting {

        private static final Duration OWN = Duration.ofSeconds(1);

        public static void main(String[] args) throws InterruptedException {
            LockFactory locks = new LockFactory(new InMemoryStore());
            if (args[0].equals("left-to-its-owner")) {
                locks = locks.withoutShutdownHook();
            }
            Lock lock = locks.createLock("work").acquire();
            Duration patience = args[0].equals("left-to-its-owner") ? OWN : SecondProcess.LIMIT;
            Runtime.getRuntime().addShutdownHook(new Thread(() -> watch(lock, patience)));
            System.exit(0);
        }

        private static void watch(Lock lock, Duration patience) {
            long end = System.nanoTime() + patience.toNanos();
            while (lock.isAcquired() && System.nanoTime() - end < 0) {
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
            System.out.println(lock.isAcquired() ? "held" : "released");
            System.out.flush();
        }
    }
}

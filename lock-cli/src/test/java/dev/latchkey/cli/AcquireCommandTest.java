package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class AcquireCommandTest {

    @Test
    void givenTheTtlIsOverBeforeTheKeyIsGivenAway_whenHandedOver_thenLostAndNotADefect() {
        try (LockFactory locks = new LockFactory(new InMemoryStore())) {
            Lock lock = locks.createLock("x", Duration.ofMillis(50));
            assertThat(lock.tryAcquire()).isTrue();
            Awaitility.await().atMost(Cli.PATIENCE).until(lock::isExpired);

            assertThatExceptionOfType(CommandException.class)
                    .isThrownBy(() -> AcquireCommand.transferKey(lock))
                    .withMessageContaining("--ttl was over")
                    .satisfies(e -> assertThat(e.exitCode()).isEqualTo(ExitCode.LOST));
        }
    }
}

package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ServerAddressTest {

    private static final int PROCESSES = 1_000;

    /** A process that is being started keeps all that is open here until it runs its program. */
    @Test
    void givenProcessesAreStartedMeanwhile_whenAnUnusedAddressIsListenedOn_thenItIsFree() throws Exception {
        Semaphore starting = new Semaphore(0);
        BackgroundCall<Boolean> processes = BackgroundCall.start(() -> {
            for (int i = 0; i < PROCESSES; i++) {
                starting.release();
                new ProcessBuilder("true").start().waitFor();
            }
            return true;
        });
        for (int i = 0; i < PROCESSES; i++) {
            assertThat(starting.tryAcquire(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            ServerAddress address = ServerAddress.unused();
            try (ServerSocket listener = new ServerSocket(address.port(), 1, InetAddress.getByName(address.host()))) {
                assertThat(listener.isBound()).isTrue();
            }
        }
        assertThat(processes.result()).isTrue();
    }
}

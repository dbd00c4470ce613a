package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class IdlePollingTest {

    @Test
    void givenAllProcessors_whenOpen_thenTheKernelLetsNoneHaltWhereItCanBeTold() throws IOException {
        try (IdlePolling polling = new IdlePolling(Placement.ALL_PROCESSORS)) {
            assertThat(polling.isOn()).isEqualTo(Files.isWritable(IdlePolling.LATENCY_LIMIT));
            if (polling.isOn()) {
                assertThat(limitMicros()).isZero();
            }
        }
    }

    @Test
    void givenOneProcessor_whenOpen_thenNothingIsChanged() {
        try (IdlePolling polling = new IdlePolling(Placement.ONE_PROCESSOR)) {
            assertThat(polling.isOn()).isFalse();
        }
    }

    /** Of all that limit it on this machine, the least. */
    private static int limitMicros() throws IOException {
        try (InputStream limit = Files.newInputStream(IdlePolling.LATENCY_LIMIT)) {
            return ByteBuffer.wrap(limit.readNBytes(Integer.BYTES))
                    .order(ByteOrder.nativeOrder())
                    .getInt();
        }
    }
}

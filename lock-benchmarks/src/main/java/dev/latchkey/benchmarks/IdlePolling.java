package dev.latchkey.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Has idle processors poll for work while it is open, as far as this machine lets it: a halted processor of a virtual machine
 * takes so long to wake up that a cycle on several of them would measure nothing else, and another time each minute.
 *
 * @see <a href="https://docs.kernel.org/power/pm_qos_interface.html">PM QoS of Linux</a>
 */
final class IdlePolling implements AutoCloseable {

    /** What is written there holds as long as the file is open. */
    static final Path LATENCY_LIMIT = Path.of("/dev/cpu_dma_latency");

    private static final byte[] ZERO_MICROS = new byte[Integer.BYTES];

    private final Optional<OutputStream> limit;

    /** Begins, if tables of that placement need it. */
    IdlePolling(Placement placement) {
        boolean isNeeded = placement == Placement.ALL_PROCESSORS && Files.isWritable(LATENCY_LIMIT);
        this.limit = isNeeded ? Optional.of(limited()) : Optional.empty();
    }

    private static OutputStream limited() {
        try {
            OutputStream open = Files.newOutputStream(LATENCY_LIMIT, StandardOpenOption.WRITE);
            open.write(ZERO_MICROS);
            return open;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + LATENCY_LIMIT, e);
        }
    }

    boolean isOn() {
        return limit.isPresent();
    }

    @Override
    public void close() {
        limit.ifPresent(open -> {
            try {
                open.close();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot close " + LATENCY_LIMIT, e);
            }
        });
    }
}

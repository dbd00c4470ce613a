package dev.latchkey.benchmarks;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.TimeUnit;

/**
 * How fast the machine is just then: how often a second a byte goes to another thread and back, by system calls and changes of
 * thread, as the cycles of locks do, on one processor ({@link Placement#pinThisProcess}). A virtual machine gets slower and faster by what its neighbours do; its own counters do not
 * tell.
 */
final class MachineSpeed implements Closeable {

    /** Long enough to come out within a few hundredths each time. */
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** After as many samples it is compiled and does not get faster any more. */
    private static final int WARM_UPS = 40;

    private final Pipe there = open();
    private final Pipe back = open();
    private final ByteBuffer one = ByteBuffer.allocateDirect(1);

    MachineSpeed() {
        Thread echo = new Thread(this::echo, "machine-speed-echo");
        echo.setDaemon(true);
        echo.start();
        for (int i = 0; i < WARM_UPS; i++) {
            double unused = read();
        }
    }

    /** Round trips a second. */
    double read() {
        try {
            long from = System.nanoTime();
            long trips = 0;
            long spent = 0;
            while (spent < NANOS) {
                there.sink().write(one.clear());
                back.source().read(one.clear());
                trips++;
                spent = System.nanoTime() - from;
            }
            return trips * 1e9 / spent;
        } catch (IOException e) {
            throw new UncheckedIOException("no pipe to another thread", e);
        }
    }

    private void echo() {
        ByteBuffer byteThere = ByteBuffer.allocateDirect(1);
        try (Pipe.SourceChannel in = there.source();
                Pipe.SinkChannel out = back.sink()) {
            while (in.read(byteThere.clear()) == 1) {
                out.write(byteThere.clear());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no pipe to another thread", e);
        }
    }

    private static Pipe open() {
        try {
            return Pipe.open();
        } catch (IOException e) {
            throw new UncheckedIOException("no pipe to another thread", e);
        }
    }

    /** Ends the other thread, which closes the ends that it has of the pipes. */
    @Override
    public void close() {
        try {
            there.sink().close();
            back.source().close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close a pipe", e);
        }
    }
}

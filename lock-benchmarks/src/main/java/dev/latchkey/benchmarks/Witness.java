package dev.latchkey.benchmarks;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;

/** Counts how often somebody was let in while another was inside, over all processes that map the same file. */
final class Witness {

    static final int BYTES = Integer.BYTES;

    private static final VarHandle INSIDE = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final MappedByteBuffer shared;
    private final AtomicLong overlaps = new AtomicLong();

    private Witness(MappedByteBuffer shared) {
        this.shared = shared;
    }

    static Witness of(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Witness(channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES));
        }
    }

    void enter() {
        if ((int) INSIDE.getAndAdd(shared, 0, 1) != 0) {
            overlaps.incrementAndGet();
        }
    }

    void leave() {
        int before = (int) INSIDE.getAndAdd(shared, 0, -1);
        assert before > 0;
    }

    long overlaps() {
        return overlaps.get();
    }
}

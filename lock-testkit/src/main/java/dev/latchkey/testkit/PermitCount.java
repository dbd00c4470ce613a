package dev.latchkey.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * How many permits processes believe to hold, in a file that the kernel guards: a witness that no store is part of.
 *
 * @param file has the number, and is empty at first
 */
record PermitCount(Path file) {

    /**
     * Adds what was granted, while it is held.
     *
     * @param limit how many permits there are, as the holder knows it
     * @throws AssertionError if more are held
     */
    void add(int count, int limit) throws IOException {
        long held = changeBy(count);
        if (held > limit) {
            throw new AssertionError(held + " permits are held, and there are " + limit);
        }
    }

    /** Takes off what is about to be released. */
    void remove(int count) throws IOException {
        long unused = changeBy(-count);
    }

    private long changeBy(int change) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            FileLock unused = channel.lock();
            ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
            long before = channel.read(number, 0) == Long.BYTES ? number.getLong(0) : 0;
            int written = channel.write(ByteBuffer.allocate(Long.BYTES).putLong(0, before + change), 0);
            if (written != Long.BYTES) {
                throw new IOException("wrote " + written + " bytes");
            }
            return before + change;
        }
    }
}

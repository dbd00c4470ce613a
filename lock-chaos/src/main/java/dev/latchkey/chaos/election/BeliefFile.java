package dev.latchkey.chaos.election;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** What one process believes, in memory that it shares with the process that judges: what was written stays if it is killed. */
final class BeliefFile {

    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int RECORD = 4 * Long.BYTES;
    private static final int SINCE = Long.BYTES;
    private static final int UNTIL = 2 * Long.BYTES;
    private static final int RETURNED = 3 * Long.BYTES;
    private static final int MOST_TERMS = 20_000;

    private final String who;
    private final ByteBuffer memory;

    private BeliefFile(String who, ByteBuffer memory) {
        this.who = who;
        this.memory = memory;
    }

    static BeliefFile open(Path file) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long size = (MOST_TERMS + 1L) * RECORD;
            return new BeliefFile(file.getFileName().toString(), channel.map(FileChannel.MapMode.READ_WRITE, 0, size));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot map " + file, e);
        }
    }

    /** Begins a term, and returns where it is. The first record is the count of all. */
    int begin(long number, long since) {
        int terms = count();
        int at = (terms + 1) * RECORD;
        LONG.set(memory, at, number);
        LONG.set(memory, at + SINCE, since);
        LONG.set(memory, at + UNTIL, since);
        LONG.setRelease(memory, 0, terms + 1L);
        return at;
    }

    /** It was still believed after this moment. */
    void believe(int at, long nanoTime) {
        LONG.setRelease(memory, at + UNTIL, nanoTime);
    }

    /** Its callback is about to return. */
    void returns(int at, long nanoTime) {
        LONG.setRelease(memory, at + RETURNED, nanoTime);
    }

    private int count() {
        return Math.toIntExact((long) LONG.getAcquire(memory, 0));
    }

    List<BelievedTerm> terms() {
        List<BelievedTerm> terms = new ArrayList<>();
        for (int i = 1; i <= count(); i++) {
            int at = i * RECORD;
            long returned = (long) LONG.getAcquire(memory, at + RETURNED);
            terms.add(new BelievedTerm(
                    who,
                    (long) LONG.get(memory, at),
                    (long) LONG.get(memory, at + SINCE),
                    (long) LONG.getAcquire(memory, at + UNTIL),
                    returned == 0 ? OptionalLong.empty() : OptionalLong.of(returned)));
        }
        return terms;
    }
}

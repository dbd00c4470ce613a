package dev.latchkey.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A reply of a script: one number, or several. */
final class ReplyOutput extends CommandOutput<byte[], byte[], List<Long>> {

    private volatile boolean refused;

    ReplyOutput() {
        super(ByteArrayCodec.INSTANCE, new ArrayList<>(5));
    }

    @Override
    public void set(long number) {
        output.add(number);
    }

    @Override
    public void setError(ByteBuffer error) {
        refused = true;
        super.setError(error);
    }

    /** Whether a server has refused the command, also if it was sent to another one then. */
    boolean isRefused() {
        return refused;
    }

    /** A missing value stands for nothing; a command that answers by a word has done what it says. */
    @Override
    public void set(ByteBuffer bytes) {}

    @Override
    public void multi(int count) {}
}

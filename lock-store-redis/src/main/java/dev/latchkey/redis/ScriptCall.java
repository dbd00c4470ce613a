package dev.latchkey.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The driver's command that runs a script, or waits for replicas. */
final class ScriptCall extends AsyncCommand<byte[], byte[], List<Long>> {

    private static final String LOST = "the connection was lost before the server had answered";

    private final @Nullable Script script;
    private volatile boolean sent;
    private volatile Runnable onAnswer = () -> {};

    /** Whether the driver has sent it again although it must not, as a client of the application may do. */
    private volatile boolean sentAgain;

    private ScriptCall(@Nullable Script script, CommandType type, CommandArgs<byte[], byte[]> args) {
        super(new Command<>(type, new Reply(), args));
        this.script = script;
    }

    /** Names the script by its digest, for a server that knows it. */
    static ScriptCall byDigest(ScriptRequest request) {
        Script script = request.script();
        return new ScriptCall(script, CommandType.EVALSHA, args(script.digest(), request));
    }

    static ScriptCall bySource(ScriptRequest request) {
        Script script = request.script();
        return new ScriptCall(script, CommandType.EVAL, args(script.source(), request));
    }

    static ScriptCall waitFor(int replicas, long maxMillis) {
        CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        return new ScriptCall(null, CommandType.WAIT, args.add(replicas).add(maxMillis));
    }

    private static CommandArgs<byte[], byte[]> args(byte[] script, ScriptRequest request) {
        CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        all.add(script).add(request.keys().size()).addKeys(request.keys());
        request.args().forEach(all::add);
        return all;
    }

    /** A WAIT is not repeatable: it belongs to the connection that wrote. */
    private boolean isRepeatable() {
        return script != null && script.isRepeatable();
    }

    /** Sets what to do when the server answers, also if nobody waits for that any more. A thread of the driver does it: it must not wait. */
    void onAnswer(Runnable answered) {
        onAnswer = answered;
    }

    @Override
    public void complete() {
        onAnswer.run();
        super.complete();
    }

    @Override
    public void encode(ByteBuf buffer) {
        // A server of a cluster may have refused it; the driver then sends it to the right one.
        sentAgain |= sent && !isRepeatable() && !((Reply) getOutput()).isRefused();
        sent = true;
        super.encode(buffer);
    }

    /**
     * Returns a failure if it was sent again after a reconnect and must not be. The answer is that of the second copy, and the
     * first may still reach the server.
     */
    @Nullable RedisException failure() {
        return sentAgain ? new RedisException(LOST) : null;
    }

    /**
     * Fails a command that must not be sent again after a reconnect.
     *
     * @return whether the driver must drop it
     */
    static boolean endIfNotRepeatable(@Nullable RedisCommand<?, ?, ?> command) {
        if (command == null) {
            return false;
        }
        boolean spent = CommandWrapper.unwrap(command) instanceof ScriptCall call && !call.isRepeatable() && call.sent;
        if (spent) {
            command.completeExceptionally(new RedisException(LOST));
        }
        return spent;
    }

    /** One number, or several. */
    private static final class Reply extends CommandOutput<byte[], byte[], List<Long>> {

        private volatile boolean refused;

        Reply() {
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

        /** Whether a server has refused the command, even if it was then sent to another one. */
        boolean isRefused() {
            return refused;
        }

        /** Ignored: a missing value stands for nothing, and a word only confirms. */
        @Override
        public void set(ByteBuffer bytes) {}

        @Override
        public void multi(int count) {}
    }
}

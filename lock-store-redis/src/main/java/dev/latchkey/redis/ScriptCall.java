package dev.latchkey.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One script sent to the server, or about to be; or a wait for its replicas. */
final class ScriptCall extends AsyncCommand<byte[], byte[], List<Long>> {

    private static final String LOST = "the connection was lost before the server had answered";

    private final @Nullable Script script;
    private volatile boolean sent;

    /** Whether it was sent again although it must not be, as by a driver that is not ours to configure. */
    private volatile boolean sentAgain;

    private ScriptCall(@Nullable Script script, CommandType type, CommandArgs<byte[], byte[]> args) {
        super(new Command<>(type, new ReplyOutput(), args));
        this.script = script;
    }

    /** By its digest, for a server that has seen it before. */
    static ScriptCall byDigest(Script script, List<byte[]> keys, byte[]... args) {
        return new ScriptCall(script, CommandType.EVALSHA, args(script.digest(), keys, args));
    }

    static ScriptCall bySource(Script script, List<byte[]> keys, byte[]... args) {
        return new ScriptCall(script, CommandType.EVAL, args(script.source(), keys, args));
    }

    static ScriptCall waitFor(int replicas, long maxMillis) {
        CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        return new ScriptCall(null, CommandType.WAIT, args.add(replicas).add(maxMillis));
    }

    private static CommandArgs<byte[], byte[]> args(byte[] script, List<byte[]> keys, byte[]... args) {
        CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        all.add(script).add(keys.size()).addKeys(keys);
        for (byte[] arg : args) {
            all.add(arg);
        }
        return all;
    }

    /** Replicas are waited for on the connection that wrote: another one, to another server perhaps, has nothing to wait for. */
    private boolean isRepeatable() {
        return script != null && script.isRepeatable();
    }

    @Override
    public void encode(ByteBuf buffer) {
        // What a server of a cluster refused goes to the right one then.
        sentAgain |= sent && !isRepeatable() && !((ReplyOutput) getOutput()).isRefused();
        sent = true;
        super.encode(buffer);
    }

    /**
     * Fails if it was sent again after a reconnect and must not be: the answer is that of the second copy, and the first may
     * still reach the server.
     */
    @Nullable RedisException failure() {
        return sentAgain ? new RedisException(LOST) : null;
    }

    /**
     * Ends a command that must not be sent again after a reconnect.
     *
     * @return whether the driver is to leave it out
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
}

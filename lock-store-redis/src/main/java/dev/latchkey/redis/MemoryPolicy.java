package dev.latchkey.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ByteArrayOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is made of a server that may evict keys when its memory is full: locks all have a TTL, so every policy but {@code
 * noeviction} takes them for a cache. Looked at once per connection that a store opens.
 */
enum MemoryPolicy {
    /** A warning; the connection is used. Not waited for. */
    WARN {
        @Override
        void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit) {
            var unused = ask(open).whenComplete((info, failure) -> {
                if (failure == null) {
                    evicting(info)
                            .ifPresent(policy -> log.warn(
                                    "lock.eviction_possible server={} policy={} consequence=held locks may be evicted, and two may "
                                            + "hold; set maxmemory-policy noeviction on a server that locks do not share with a cache",
                                    server,
                                    policy));
                } else {
                    log.debug("lock.memory_policy_unknown server={}", server, failure);
                }
            });
        }
    },
    /** The connection is refused, also if the policy cannot be looked at. */
    REFUSE {
        @Override
        void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit) {
            evicting(await(ask(open), limit)).ifPresent(policy -> {
                throw new UnsuitableException("its maxmemory-policy is " + policy
                        + ", which may evict held locks; set noeviction, or leave out the option strict");
            });
        }
    };

    /** Why the server is not used. */
    static final class UnsuitableException extends RedisException {

        private static final long serialVersionUID = 1L;

        UnsuitableException(String problem) {
            super(problem);
        }
    }

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(\\S+)");
    private static final Pattern LIMIT = Pattern.compile("(?m)^maxmemory:(\\d+)");

    /**
     * Looks at the server of a new connection.
     *
     * @param server what to call it
     * @param limit how long its answer is waited for, if it is
     * @throws RedisException if the connection is not to be used
     */
    abstract void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit);

    /** Over other connections, looking at each before it is used. */
    Connections watching(Connections connections, String server, Duration limit) {
        return Connections.wrapping(connections, open -> look(open, server, limit), connections::close);
    }

    private static AsyncCommand<byte[], byte[], byte[]> ask(StatefulConnection<byte[], byte[]> open) {
        ByteArrayCodec codec = ByteArrayCodec.INSTANCE;
        AsyncCommand<byte[], byte[], byte[]> info = new AsyncCommand<>(
                new Command<>(CommandType.INFO, new ByteArrayOutput<>(codec), new CommandArgs<>(codec).add("memory")));
        try {
            open.dispatch(info);
        } catch (RuntimeException e) {
            info.completeExceptionally(e);
        }
        return info;
    }

    private static byte[] await(AsyncCommand<byte[], byte[], byte[]> info, Duration limit) {
        try {
            return Uninterruptibles.await(info, limit);
        } catch (ExecutionException e) {
            throw unknown(String.valueOf(Failures.unwrapped(e).getMessage()));
        } catch (TimeoutException e) {
            info.cancel(false);
            throw unknown("no answer within " + limit);
        }
    }

    private static UnsuitableException unknown(String why) {
        return new UnsuitableException("its maxmemory-policy cannot be looked at: " + why
                + ". Give the user the right +info, or leave out the option strict");
    }

    /** The policy, if there is a limit to be kept by it. */
    private static Optional<String> evicting(byte[] info) {
        String text = new String(info, StandardCharsets.UTF_8);
        Matcher policy = POLICY.matcher(text);
        Matcher limit = LIMIT.matcher(text);
        boolean isLimited = limit.find() && !limit.group(1).equals("0");
        return isLimited && policy.find() && !policy.group(1).equals("noeviction")
                ? Optional.of(policy.group(1))
                : Optional.empty();
    }
}

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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What to do about a server that may evict keys when its memory is full. All locks have a TTL, so every policy except {@code
 * noeviction} treats them like a cache. Checked once for each connection for commands.
 */
enum MemoryPolicy {
    /** Logs one warning for each store and uses the connection. Does not wait for the answer. */
    WARN {
        @Override
        void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit, AtomicBoolean warned) {
            var unused = ask(open).whenComplete((info, failure) -> {
                if (failure == null) {
                    evicting(info)
                            .filter(policy -> !warned.getAndSet(true))
                            .ifPresent(policy -> log.warn(
                                    "lock.eviction_allowed server={} policy={} consequence=held locks may be evicted, and then two "
                                            + "clients may hold one; set maxmemory-policy noeviction on a server without a cache",
                                    server,
                                    policy));
                } else {
                    log.debug("lock.policy_check_failed server={}", server, failure);
                }
            });
        }
    },
    /** Refuses the connection, also if the policy cannot be read. */
    REFUSE {
        @Override
        void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit, AtomicBoolean warned) {
            evicting(await(ask(open), limit)).ifPresent(policy -> {
                throw new UnsuitableException("its maxmemory-policy is " + policy
                        + ", which may evict held locks; set noeviction, or remove the option strict");
            });
        }
    };

    /** Says why the server is not used. */
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
     * Checks the server of a new connection.
     *
     * @param server the server, as messages name it
     * @param limit how long to wait for its answer
     * @param warned whether a warning was logged before
     * @throws RedisException if the connection must not be used
     */
    abstract void look(StatefulConnection<byte[], byte[]> open, String server, Duration limit, AtomicBoolean warned);

    /** Returns the same connections, with this check. */
    Connections watching(Connections connections, String server, Duration limit) {
        AtomicBoolean warned = new AtomicBoolean();
        return connections.checkedBy(open -> look(open, server, limit, warned));
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
        return new UnsuitableException("its maxmemory-policy cannot be read: " + why
                + ". Give the user the permission +info, or remove the option strict");
    }

    /** Returns the policy if it may evict locks: there is a memory limit, and the policy is not {@code noeviction}. */
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

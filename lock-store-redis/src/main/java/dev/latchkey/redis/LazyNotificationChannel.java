package dev.latchkey.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inbox of a store, opened when somebody waits for the first time. Never waits, so that nobody hangs in opening it. */
final class LazyNotificationChannel {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final LazyConnection<NotificationChannel> opening;
    private final String server;
    private final String channel;
    private volatile long retryNanos = System.nanoTime();
    private volatile boolean warned;

    /**
     * Prepares, and opens nothing.
     *
     * @param server what to call the server in a warning
     * @param channel what to call the channel there
     */
    LazyNotificationChannel(Supplier<NotificationChannel> open, String server, String channel) {
        this.opening = new LazyConnection<>(open, NotificationChannel::close);
        this.server = server;
        this.channel = channel;
    }

    /** How messages about a resource arrive already; they do so until it is left as often. */
    Optional<NotificationChannel.GrantMessage> ready(String resource) {
        NotificationChannel open = opening.there();
        return open == null ? Optional.empty() : open.ready(resource);
    }

    /**
     * Has messages about a resource arrive, until it is left as often.
     *
     * @return completes with how they arrive; with {@link NotificationChannel.GrantMessage#NONE} if they cannot be had, and then for a while
     */
    CompletableFuture<NotificationChannel.GrantMessage> listen(String resource) {
        return retryNanos - System.nanoTime() > 0
                ? CompletableFuture.completedFuture(NotificationChannel.GrantMessage.NONE)
                : opening.begin().thenCompose(open -> open.listen(resource)).exceptionally(this::unavailable);
    }

    /**
     * Subscribes anew, if it has: the server that commands go to may be another one now.
     *
     * @param onRenewed told when it is done, for messages may have been missed
     */
    void renew(Runnable onRenewed) {
        opening.renew(() -> true, onRenewed);
    }

    void check(String resource) {
        NotificationChannel open = opening.there();
        if (open != null) {
            open.check(resource);
        }
    }

    void leave(String resource) {
        NotificationChannel open = opening.there();
        if (open != null) {
            open.leave(resource);
        }
    }

    private NotificationChannel.GrantMessage unavailable(Throwable failure) {
        retryNanos = System.nanoTime() + RETRY_NANOS;
        if (!warned && !opening.isClosed()) {
            warned = true;
            log.warn(
                    "lock.pubsub_unavailable server={} channel={} problem={} consequence=waiters poll",
                    server,
                    channel,
                    Failures.unwrapped(failure).getMessage());
        }
        return NotificationChannel.GrantMessage.NONE;
    }

    void close(Duration maxWait) {
        opening.close(maxWait);
    }
}

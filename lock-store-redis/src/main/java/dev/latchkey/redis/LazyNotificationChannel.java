package dev.latchkey.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The channel that messages to a store arrive in, opened when a caller waits for the first time. Its methods do not wait for the server. */
final class LazyNotificationChannel {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private static final BooleanSupplier ALWAYS = Boolean.TRUE::booleanValue;
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final LazyConnection<NotificationChannel> opening;
    private final String server;
    private final String channel;
    private volatile long retryNanos = System.nanoTime();
    private volatile boolean warned;

    /**
     * Opens nothing yet.
     *
     * @param server the server, as warnings name it
     * @param limit how long to wait for the answer of the server
     */
    LazyNotificationChannel(
            Connections connections, KeyNames names, WaiterRegistry waiters, String server, Duration limit) {
        this.opening = new LazyConnection<>(
                () -> connections.inbox(names, waiters, limit),
                NotificationChannel::close,
                waiters::askAgain,
                LazyConnection::apart);
        this.server = server;
        this.channel = names.channel(waiters.id());
    }

    /** Subscribes to messages about a resource if that needs no request; else returns empty. */
    Optional<NotificationChannel.Push> ready(String resource) {
        NotificationChannel open = opening.there();
        return open == null ? Optional.empty() : open.ready(resource);
    }

    /**
     * Subscribes to messages about a resource.
     *
     * @return completes with how they arrive; with {@link NotificationChannel.Push#NONE} if they do not, and for some seconds after
     *     that without another attempt
     */
    CompletableFuture<NotificationChannel.Push> listen(String resource) {
        return retryNanos - System.nanoTime() > 0
                ? CompletableFuture.completedFuture(NotificationChannel.Push.NONE)
                : opening.begin().thenCompose(open -> open.listen(resource)).exceptionally(this::unavailable);
    }

    /** Subscribes to messages that are about no waiter; fails if the server cannot be reached or does not allow it. */
    CompletableFuture<?> listen() {
        return opening.begin().thenCompose(NotificationChannel::listen);
    }

    /**
     * Opens the channel again if it is open, because commands may go to another server now. All waiters then ask, because
     * messages may have been missed.
     */
    void renew() {
        opening.renew(ALWAYS);
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

    private NotificationChannel.Push unavailable(Throwable failure) {
        retryNanos = System.nanoTime() + RETRY_NANOS;
        if (!warned && !opening.isClosed()) {
            warned = true;
            log.warn(
                    "lock.subscription_failed server={} channel={} problem={} consequence=waiters poll",
                    server,
                    channel,
                    Failures.unwrapped(failure).getMessage());
        }
        return NotificationChannel.Push.NONE;
    }

    void close(Duration maxWait) {
        opening.close(maxWait);
    }
}

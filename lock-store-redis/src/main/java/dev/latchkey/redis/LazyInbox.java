package dev.latchkey.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The inbox of a store, opened when somebody waits for the first time. Never waits, so that nobody hangs in opening it. */
final class LazyInbox {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);

    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Opening<Inbox> opening;
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
    LazyInbox(Supplier<Inbox> open, String server, String channel) {
        this.opening = new Opening<>(open, Inbox::close);
        this.server = server;
        this.channel = channel;
    }

    /** How messages about a resource arrive already; they do so until it is left as often. */
    Optional<Inbox.Push> ready(String resource) {
        Inbox open = opening.there();
        return open == null ? Optional.empty() : open.ready(resource);
    }

    /**
     * Has messages about a resource arrive, until it is left as often.
     *
     * @return completes with how they arrive; with {@link Inbox.Push#NONE} if they cannot be had, and then for a while
     */
    CompletableFuture<Inbox.Push> listen(String resource) {
        return retryNanos - System.nanoTime() > 0
                ? CompletableFuture.completedFuture(Inbox.Push.NONE)
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
        Inbox open = opening.there();
        if (open != null) {
            open.check(resource);
        }
    }

    void leave(String resource) {
        Inbox open = opening.there();
        if (open != null) {
            open.leave(resource);
        }
    }

    private Inbox.Push unavailable(Throwable failure) {
        retryNanos = System.nanoTime() + RETRY_NANOS;
        if (!warned && !opening.isClosed()) {
            warned = true;
            log.warn(
                    "lock.pubsub_unavailable server={} channel={} problem={} consequence=waiters poll",
                    server,
                    channel,
                    Failures.unwrapped(failure).getMessage());
        }
        return Inbox.Push.NONE;
    }

    void close(Duration maxWait) {
        opening.close(maxWait);
    }
}

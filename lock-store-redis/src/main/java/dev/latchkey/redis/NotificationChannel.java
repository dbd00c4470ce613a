package dev.latchkey.redis;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Receives the messages of the server to the waiters of one store. */
interface NotificationChannel {

    /** How the server notifies a waiter. */
    enum Push {
        /** Not at all: the waiter polls. */
        NONE("0"),
        PUBLISH("1"),
        SPUBLISH("2");

        private final String code;

        Push(String code) {
            this.code = code;
        }

        /** Returns how scripts write it. */
        String code() {
            return code;
        }
    }

    /** As {@link #listen}, if that needs no request; else empty. */
    Optional<Push> ready(String resource);

    /**
     * Subscribes to messages about a resource, until {@link #leave} was called as often.
     *
     * @return completes when they arrive; fails with a {@link io.lettuce.core.RedisException} if the server cannot be reached or
     *     does not allow it
     */
    CompletableFuture<Push> listen(String resource);

    /**
     * Subscribes to messages that are about no waiter, until the channel is closed.
     *
     * @return completes when they arrive; fails as {@link #listen(String)}
     */
    CompletableFuture<?> listen();

    /** Moves the subscription if the slot of the resource has moved to another server. Called with each poll. */
    default void check(String resource) {}

    /** Ends what one {@link #listen} or {@link #ready} has begun. */
    void leave(String resource);

    void close();
}

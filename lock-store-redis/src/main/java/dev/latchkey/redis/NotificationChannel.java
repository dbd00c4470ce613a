package dev.latchkey.redis;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What the server's messages to the waiters of one store arrive in. */
interface NotificationChannel {

    /** How the server reaches a waiter. */
    enum GrantMessage {
        /** Not at all: it has to poll. */
        NONE("0"),
        PUBLISH("1"),
        SPUBLISH("2");

        private final String letter;

        GrantMessage(String letter) {
            this.letter = letter;
        }

        /** As the scripts know it. */
        String letter() {
            return letter;
        }
    }

    /** As {@link #listen}, if that is so without asking the server; else empty. */
    Optional<GrantMessage> ready(String resource);

    /**
     * Has messages about a resource arrive, until it is left as often; completes when they do.
     *
     * @return fails with a {@link io.lettuce.core.RedisException} if the server cannot be asked, or does not allow it
     */
    CompletableFuture<GrantMessage> listen(String resource);

    /** Has messages about a resource come from where it is, if it has gone elsewhere since: for those who wait for long. */
    default void check(String resource) {}

    /** One of those who listen is gone. */
    void leave(String resource);

    void close();
}

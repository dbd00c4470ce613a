package dev.latchkey.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How one who waits hears of its turn. Used by the thread that waits. */
final class WaiterSubscription {

    private final LazyNotificationChannel inbox;
    private final String resource;
    private @Nullable CompletableFuture<NotificationChannel.GrantMessage> opening;
    private NotificationChannel.GrantMessage push = NotificationChannel.GrantMessage.NONE;

    WaiterSubscription(LazyNotificationChannel inbox, String resource) {
        this.inbox = inbox;
        this.resource = resource;
    }

    /** How it can be told now. */
    NotificationChannel.GrantMessage push() {
        return push;
    }

    /** Listens if that is to be had without waiting. */
    void openNow() {
        inbox.ready(resource).ifPresent(how -> {
            push = how;
            opening = CompletableFuture.completedFuture(how);
        });
    }

    /**
     * Begins to listen; looks whether messages still come if it does, or is about to.
     *
     * @param onOpen told how it can be told, from any thread; to be handed to {@link #opened} by the one that waits
     */
    void open(Consumer<NotificationChannel.GrantMessage> onOpen) {
        if (opening == null) {
            CompletableFuture<NotificationChannel.GrantMessage> begun = inbox.listen(resource);
            opening = begun;
            var unused = begun.thenAccept(onOpen);
        } else {
            inbox.check(resource);
        }
    }

    void opened(NotificationChannel.GrantMessage how) {
        push = how;
        if (how == NotificationChannel.GrantMessage.NONE) {
            opening = null;
        }
    }

    void close() {
        CompletableFuture<NotificationChannel.GrantMessage> begun = opening;
        if (begun != null) {
            var unused = begun.thenAccept(this::leave);
        }
    }

    private void leave(NotificationChannel.GrantMessage how) {
        if (how != NotificationChannel.GrantMessage.NONE) {
            inbox.leave(resource);
        }
    }
}

package dev.latchkey.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The subscription of one waiter. Used by the thread that waits. */
final class WaiterSubscription {

    private final LazyNotificationChannel inbox;
    private final String resource;
    private @Nullable CompletableFuture<NotificationChannel.Push> opening;
    private NotificationChannel.Push push = NotificationChannel.Push.NONE;

    WaiterSubscription(LazyNotificationChannel inbox, String resource) {
        this.inbox = inbox;
        this.resource = resource;
    }

    /** Returns how the server can notify this waiter now. */
    NotificationChannel.Push push() {
        return push;
    }

    /** Subscribes if that needs no request. */
    void openNow() {
        inbox.ready(resource).ifPresent(how -> {
            push = how;
            opening = CompletableFuture.completedFuture(how);
        });
    }

    /**
     * Subscribes. If it has done so already, it checks whether the slot of the resource has moved.
     *
     * @param onOpen called from any thread when the subscription is confirmed or has failed; the thread that waits then calls
     *     {@link #opened}
     */
    void open(Consumer<NotificationChannel.Push> onOpen) {
        if (opening == null) {
            CompletableFuture<NotificationChannel.Push> begun = inbox.listen(resource);
            opening = begun;
            var unused = begun.thenAccept(onOpen);
        } else {
            inbox.check(resource);
        }
    }

    void opened(NotificationChannel.Push how) {
        push = how;
        if (how == NotificationChannel.Push.NONE) {
            opening = null;
        }
    }

    void close() {
        CompletableFuture<NotificationChannel.Push> begun = opening;
        if (begun != null) {
            var unused = begun.thenAccept(this::leave);
        }
    }

    private void leave(NotificationChannel.Push how) {
        if (how != NotificationChannel.Push.NONE) {
            inbox.leave(resource);
        }
    }
}

package dev.latchkey.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How one who waits hears of its turn. Used by the thread that waits. */
final class Ear {

    private final LazyInbox inbox;
    private final String resource;
    private @Nullable CompletableFuture<Inbox.Push> opening;
    private Inbox.Push push = Inbox.Push.NONE;

    Ear(LazyInbox inbox, String resource) {
        this.inbox = inbox;
        this.resource = resource;
    }

    /** How it can be told now. */
    Inbox.Push push() {
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
    void open(Consumer<Inbox.Push> onOpen) {
        if (opening == null) {
            CompletableFuture<Inbox.Push> begun = inbox.listen(resource);
            opening = begun;
            var unused = begun.thenAccept(onOpen);
        } else {
            inbox.check(resource);
        }
    }

    void opened(Inbox.Push how) {
        push = how;
        if (how == Inbox.Push.NONE) {
            opening = null;
        }
    }

    void close() {
        CompletableFuture<Inbox.Push> begun = opening;
        if (begun != null) {
            var unused = begun.thenAccept(this::leave);
        }
    }

    private void leave(Inbox.Push how) {
        if (how != Inbox.Push.NONE) {
            inbox.leave(resource);
        }
    }
}

package dev.latchkey.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The watch of one who has to ask by itself. */
final class NoSubscription implements ReleaseSubscription {

    static final ReleaseSubscription INSTANCE = new NoSubscription();

    private NoSubscription() {}

    @Override
    public CompletionStage<?> next() {
        return new CompletableFuture<>();
    }

    @Override
    public boolean isWatching() {
        return false;
    }

    @Override
    public void close() {}
}

package dev.latchkey.multi;

import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.ReleaseSubscription;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Subscriptions to several resources: whichever may be free is worth another try. */
record PartSubscription(List<ReleaseSubscription> parts) implements ReleaseSubscription {

    static PartSubscription of(NotifyingStore store, List<String> resources) {
        return new PartSubscription(resources.stream().map(store::watch).toList());
    }

    @Override
    public CompletionStage<?> next() {
        CompletableFuture<Object> any = new CompletableFuture<>();
        parts.forEach(part -> part.next().thenRun(() -> any.complete(this)));
        return any;
    }

    @Override
    public boolean isWatching() {
        return parts.stream().allMatch(ReleaseSubscription::isWatching);
    }

    @Override
    public void close() {
        parts.forEach(ReleaseSubscription::close);
    }
}

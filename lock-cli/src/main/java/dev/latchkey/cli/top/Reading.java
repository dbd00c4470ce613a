package dev.latchkey.cli.top;

import dev.latchkey.LockFactory;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.ResourcePage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What was held when the store was read, that with most waiters first.
 *
 * @param resources those that were held
 * @param isComplete false if more is held than was read
 * @param nanoTime when it was read
 */
public record Reading(List<ListedResource> resources, boolean isComplete, long nanoTime) {

    /** Nobody looks through more of them, and all are in memory. */
    public static final int MOST_READ = 20_000;

    private static final Comparator<ListedResource> MOST_WAITERS_FIRST = Comparator.<ListedResource>comparingInt(
                    listed -> -waiters(listed))
            .thenComparing(listed -> longestWait(listed).orElse(Duration.ZERO), Comparator.reverseOrder())
            .thenComparing(listed -> longestHeld(listed).orElse(Duration.ZERO), Comparator.reverseOrder())
            .thenComparing(ListedResource::resource);

    /**
     * Reads a store.
     *
     * @param locks the store
     * @param prefix what the names begin with
     * @return what is held
     * @throws dev.latchkey.LockException if the store fails
     * @throws UnsupportedOperationException if the store cannot list
     */
    public static Reading of(LockFactory locks, String prefix) {
        List<ListedResource> read = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            ResourcePage page = locks.list(prefix, after, ListingStore.MAX_PAGE);
            read.addAll(page.resources());
            after = page.next();
        } while (after.isPresent() && read.size() < MOST_READ);
        read.sort(MOST_WAITERS_FIRST);
        return new Reading(List.copyOf(read), after.isEmpty(), System.nanoTime());
    }

    List<ListedResource> beginningWith(String prefix) {
        return resources.stream()
                .filter(listed -> listed.resource().startsWith(prefix))
                .toList();
    }

    static int waiters(ListedResource listed) {
        return listed.waiters().map(List::size).orElse(0);
    }

    static Optional<Duration> longestWait(ListedResource listed) {
        return listed.waiters().stream()
                .flatMap(List::stream)
                .map(QueuedWaiter::waited)
                .flatMap(Optional::stream)
                .max(Comparator.naturalOrder());
    }

    static Optional<Duration> longestHeld(ListedResource listed) {
        return listed.holders().stream()
                .map(Holder::held)
                .flatMap(Optional::stream)
                .max(Comparator.naturalOrder());
    }
}

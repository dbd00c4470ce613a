package dev.latchkey.cli;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.QueuedWaiter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Describes who holds a lock, and who waits for it. */
final class HolderReport {

    private static final int MOST_NAMED = 3;

    private HolderReport() {}

    /** Returns the end of a message: who holds the lock, as far as the store can tell. Never fails. */
    static String describe(LockFactory locks, LockTarget want) {
        try {
            List<Optional<String>> holders = holders(locks, want);
            if (holders.isEmpty()) {
                return "somebody else";
            }
            String named = holders.stream()
                    .limit(MOST_NAMED)
                    .map(description -> description.orElse("somebody else"))
                    .distinct()
                    .collect(Collectors.joining(", "));
            int more = holders.size() - MOST_NAMED;
            return Text.oneLine(named) + (more > 0 ? " and " + more + " more" : "");
        } catch (UnsupportedOperationException | LockException e) {
            return "somebody else";
        }
    }

    private static List<Optional<String>> holders(LockFactory locks, LockTarget want) {
        return want.permits() == 0
                ? locks.holders(want.resource()).stream()
                        .map(Holder::description)
                        .toList()
                : locks.semaphore(want.resource(), want.permits()).create().holders().stream()
                        .map(PermitHolder::description)
                        .toList();
    }

    /** Returns one line for one holder. */
    static String line(Holder holder) {
        return "held " + (holder.mode() == LockMode.SHARED ? "shared" : "exclusively")
                + holder.description()
                        .map(description -> " by " + Text.oneLine(description))
                        .orElse("")
                + holder.held()
                        .map(held -> ", for " + DurationText.format(held))
                        .orElse("")
                + (holder.fencingToken().isPresent()
                        ? ", fencing token " + holder.fencingToken().getAsLong()
                        : "")
                + holder.remaining()
                        .map(left -> ", lease ends in " + DurationText.format(left))
                        .orElse("");
    }

    static Json json(Holder holder) {
        return new Json()
                .put("mode", name(holder.mode()))
                .put("description", holder.description().orElse(null))
                .put("fencingToken", holder.fencingToken())
                .put("remainingMs", holder.remaining().map(Duration::toMillis).orElse(null))
                .put("heldMs", holder.held().map(Duration::toMillis).orElse(null));
    }

    /** Returns one line for one that waits. */
    static String line(QueuedWaiter waiter) {
        return waiter.description().map(Text::oneLine).orElse("somebody")
                + (waiter.mode() == LockMode.SHARED ? ", to share it" : "")
                + waiter.waited()
                        .map(waited -> ", for " + DurationText.format(waited))
                        .orElse("");
    }

    static Json json(QueuedWaiter waiter) {
        return new Json()
                .put("mode", name(waiter.mode()))
                .put("description", waiter.description().orElse(null))
                .put("waitedMs", waiter.waited().map(Duration::toMillis).orElse(null));
    }

    static Json json(ListedResource listed) {
        return new Json()
                .put("resource", listed.resource())
                .put(
                        "holders",
                        listed.holders().stream().map(HolderReport::json).toList())
                .put(
                        "waiters",
                        listed.waiters()
                                .map(queue ->
                                        queue.stream().map(HolderReport::json).toList()));
    }

    static String name(LockMode mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}

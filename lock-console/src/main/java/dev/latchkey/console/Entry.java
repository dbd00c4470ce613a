package dev.latchkey.console;

import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A held resource as a page gets it. Its times are points on the clock of its feed, not distances from now: so an entry stays the same
 * as long as nothing happens, and need not be sent again.
 */
record Entry(String resource, List<Hold> holds, Optional<List<Wait>> waits) {

    /** Differences that come from the way of an answer, not from a renewal. */
    private static final long JITTER_MILLIS = 500;

    record Hold(String mode, OptionalLong token, Optional<String> owner, OptionalLong since, OptionalLong ends) {

        private static Hold of(Holder holder, long now) {
            return new Hold(
                    holder.mode().name().toLowerCase(Locale.ROOT),
                    holder.fencingToken(),
                    holder.description(),
                    at(holder.held().map(Duration::negated), now),
                    at(holder.remaining(), now));
        }

        private String identity() {
            return mode + ' ' + token + ' ' + owner.orElse("");
        }

        private Hold settle(Hold before) {
            return identity().equals(before.identity())
                    ? new Hold(mode, token, owner, settled(since, before.since), settled(ends, before.ends))
                    : this;
        }

        private Json json() {
            return new Json()
                    .put("mode", mode)
                    // As text, for JavaScript's numbers are not exact beyond 53 bits.
                    .put("token", token.isPresent() ? Long.toString(token.getAsLong()) : null)
                    .put("owner", owner.orElse(null))
                    .put("since", since)
                    .put("ends", ends);
        }
    }

    record Wait(String mode, Optional<String> owner, OptionalLong since) {

        private static Wait of(QueuedWaiter waiter, long now) {
            return new Wait(
                    waiter.mode().name().toLowerCase(Locale.ROOT),
                    waiter.description(),
                    at(waiter.waited().map(Duration::negated), now));
        }

        private Wait settle(Wait before) {
            return mode.equals(before.mode) && owner.equals(before.owner)
                    ? new Wait(mode, owner, settled(since, before.since))
                    : this;
        }

        private Json json() {
            return new Json().put("mode", mode).put("owner", owner.orElse(null)).put("since", since);
        }
    }

    static Entry of(ListedResource listed, long now) {
        return new Entry(
                listed.resource(),
                listed.holders().stream()
                        .map(holder -> Hold.of(holder, now))
                        .sorted(Comparator.comparing(Hold::identity))
                        .toList(),
                listed.waiters()
                        .map(queue -> queue.stream()
                                .map(waiter -> Wait.of(waiter, now))
                                .toList()));
    }

    /** Returns this entry with the times of the one before where they mean the same. */
    Entry settle(Entry before) {
        List<Hold> settledHolds = new ArrayList<>();
        for (int i = 0; i < holds.size(); i++) {
            settledHolds.add(i < before.holds.size() ? holds.get(i).settle(before.holds.get(i)) : holds.get(i));
        }
        List<Wait> queue = waits.orElse(List.of());
        List<Wait> earlier = before.waits.orElse(List.of());
        List<Wait> settledWaits = new ArrayList<>();
        for (int i = 0; i < queue.size(); i++) {
            settledWaits.add(i < earlier.size() ? queue.get(i).settle(earlier.get(i)) : queue.get(i));
        }
        return new Entry(resource, settledHolds, waits.map(ignored -> settledWaits));
    }

    Json json() {
        return new Json()
                .put("name", resource)
                .put("holds", holds.stream().map(Hold::json).toList())
                .put("waits", waits.map(queue -> queue.stream().map(Wait::json).toList()));
    }

    private static OptionalLong at(Optional<Duration> fromNow, long now) {
        return fromNow.isPresent() ? OptionalLong.of(now + fromNow.get().toMillis()) : OptionalLong.empty();
    }

    private static OptionalLong settled(OptionalLong now, OptionalLong before) {
        return now.isPresent() && before.isPresent() && Math.abs(now.getAsLong() - before.getAsLong()) <= JITTER_MILLIS
                ? before
                : now;
    }
}

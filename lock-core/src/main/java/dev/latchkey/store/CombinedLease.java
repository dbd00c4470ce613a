package dev.latchkey.store;

import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/** What bounds a hold of several members: it lasts as long as a quorum of its parts, counted from the earliest. */
final class CombinedLease {

    private CombinedLease() {}

    static Lease of(Collection<Lease> parts, int quorum, Optional<CompletionStage<LossReason>> lost) {
        List<Optional<Duration>> longestFirst = parts.stream()
                .map(part -> part.since().isPresent() ? Optional.of(part.ttl()) : Optional.<Duration>empty())
                .sorted(Comparator.comparing((Optional<Duration> ttl) -> ttl.orElse(Duration.ofSeconds(Long.MAX_VALUE)))
                        .reversed())
                .toList();
        Optional<Duration> bound = longestFirst.get(quorum - 1);
        if (bound.isEmpty()) {
            return new Lease(OptionalLong.empty(), Duration.ZERO, lost);
        }
        OptionalLong since = parts.stream()
                .map(Lease::since)
                .filter(OptionalLong::isPresent)
                .mapToLong(OptionalLong::getAsLong)
                .reduce((one, other) -> one - other < 0 ? one : other);
        return new Lease(since, bound.get(), lost);
    }
}

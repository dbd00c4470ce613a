package dev.latchkey.combined;

import dev.latchkey.spi.Lease;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What bounds a hold of several members: it lasts as long as a quorum of its parts, counted from the earliest. Where any member
 * has leases it has one, also if enough members have none: else it would not be renewed, and the parts with leases would end
 * while they are counted on.
 */
final class CombinedLease {

    private CombinedLease() {}

    /**
     * The third argument is what all were asked for, and when; empty unless some members have leases and others have not. It is
     * told if no part that counts has a lease. Else the lease begins no later, so that it covers parts that are answered later,
     * which may be all that is left when a session is lost. The last is what bounds the hold beside time.
     */
    static Lease of(Collection<Lease> parts, int quorum, Optional<Lease> asked, Lease session) {
        List<Optional<Duration>> longestFirst = parts.stream()
                .map(part -> part.since().isPresent() ? Optional.of(part.ttl()) : Optional.<Duration>empty())
                .sorted(Comparator.comparing((Optional<Duration> ttl) -> ttl.orElse(Duration.ofSeconds(Long.MAX_VALUE)))
                        .reversed())
                .toList();
        Optional<Duration> bound =
                longestFirst.stream().skip(quorum - 1).flatMap(Optional::stream).findFirst();
        if (bound.isEmpty()) {
            Lease instead = asked.orElse(Lease.endless());
            return session.withTime(instead.since(), instead.ttl());
        }
        OptionalLong since = Stream.concat(parts.stream(), asked.stream())
                .map(Lease::since)
                .filter(OptionalLong::isPresent)
                .mapToLong(OptionalLong::getAsLong)
                .reduce((one, other) -> one - other < 0 ? one : other);
        return session.withTime(since, bound.get());
    }

    /** Whether a part lasts at least as long as a hold. */
    static boolean lasts(Lease part, Lease hold) {
        if (part.since().isEmpty() || hold.since().isEmpty()) {
            return part.since().isEmpty();
        }
        return end(part) - end(hold) >= 0;
    }

    static long end(Lease lease) {
        return lease.since().orElseThrow() + lease.ttl().toNanos();
    }
}

package dev.latchkey.tree;

import dev.latchkey.spi.Lease;
import java.util.Collection;

/** Which of several leases ends first: all that an editor holds ends with it. */
final class EarliestLease {

    private EarliestLease() {}

    /** Endless if none of them is bounded by time. */
    static Lease sooner(Collection<Lease> leases) {
        Lease first = Lease.endless();
        for (Lease other : leases) {
            first = endsSooner(other, first) ? other : first;
        }
        return first;
    }

    /** The lease, ending no later than the bound; one without a time stays without. */
    static Lease notAfter(Lease bound, Lease lease) {
        return lease.since().isEmpty() || endsSooner(lease, bound) ? lease : lease.withTime(bound.since(), bound.ttl());
    }

    private static boolean endsSooner(Lease one, Lease other) {
        if (one.since().isEmpty() || other.since().isEmpty()) {
            return one.since().isPresent();
        }
        return end(one) - end(other) < 0;
    }

    private static long end(Lease lease) {
        return lease.since().orElseThrow() + lease.ttl().toNanos();
    }
}

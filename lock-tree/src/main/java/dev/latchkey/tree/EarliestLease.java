package dev.latchkey.tree;

import dev.latchkey.spi.Lease;
import java.util.Collection;

/** Finds the lease that ends first: everything that an editor holds ends with it. */
final class EarliestLease {

    private EarliestLease() {}

    /** Returns the lease that ends first; an endless one if none has a time limit. */
    static Lease sooner(Collection<Lease> leases) {
        Lease first = Lease.endless();
        for (Lease other : leases) {
            first = endsSooner(other, first) ? other : first;
        }
        return first;
    }

    /** Returns the lease, shortened to the bound; one without a time limit stays as it is. */
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

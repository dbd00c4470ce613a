package dev.latchkey.etcd;

import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveResponse;
import java.time.Duration;
import java.util.Optional;

/** Asks how long the lease of another process lasts. */
record LeaseLookup(Calls calls) {

    /**
     * The longest that etcd grants. A server that leads no longer, or does not do so yet, takes all leases for endless, and before
     * 3.4.32 says so: nearly 300 years. What is left is then not known, and may be nothing. An answer above the granted TTL is
     * none of these: a new leader adds its election timeout, and more if many leases would end at once.
     */
    private static final long LONGEST_SECONDS = 9_000_000_000L;

    /** Returns a lease with its end, as exactly as it can be known, but never too late; empty if it has ended. */
    Optional<ClassLease> find(String resource, long id) {
        long endNanos = System.nanoTime() + calls.limit().toNanos();
        while (true) {
            int server = calls.server();
            long nowNanos = System.nanoTime();
            LeaseTimeToLiveResponse answer = calls.ask(
                    resource,
                    LeaseGrpc.getLeaseTimeToLiveMethod(),
                    LeaseTimeToLiveRequest.newBuilder().setID(id).build(),
                    Calls.Repeat.HARMLESS);
            if (answer.getTTL() <= LONGEST_SECONDS) {
                return found(id, nowNanos, answer);
            }
            if (endNanos - System.nanoTime() <= 0) {
                throw Failures.leaderless(resource);
            }
            calls.moveOn(server);
        }
    }

    private static Optional<ClassLease> found(long id, long nowNanos, LeaseTimeToLiveResponse answer) {
        Duration age = Duration.ofSeconds(answer.getGrantedTTL() - answer.getTTL());
        return answer.getTTL() < 0
                ? Optional.empty()
                : Optional.of(new ClassLease(id, nowNanos - age.toNanos(), Duration.ofSeconds(answer.getGrantedTTL())));
    }
}

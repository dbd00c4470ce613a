package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Who may hold how many permits, decided from the row of a semaphore that was read, by the rules of
 * {@link dev.latchkey.spi.PermitStore}. What is decided is written only if the row is still the same.
 *
 * @param sinceNanos when the row was asked for, by this JVM's monotonic clock
 */
record PermitRules(Row row, Request request, long sinceNanos) {

    Decision<Response> save() {
        Optional<PermitHold> own = own(row, request.key());
        if (own.isPresent()) {
            return renew(own.get());
        }
        if (request.key().held().isPresent()) {
            return Decision.leave(new Response.Lost(LossReason.EXPIRED));
        }
        Permits permits = Permits.of(request.key());
        return fits(permits) ? grant(permits) : conflict();
    }

    Decision<Response> refresh() {
        return own(row, request.key())
                .map(this::renew)
                .orElseGet(() -> Decision.leave(new Response.Lost(LossReason.EXPIRED)));
    }

    /** Also true if the lease was over already, and nobody was granted anything since. */
    static Decision<Boolean> delete(Row row, Key key) {
        List<SharedHold> others = without(row.readers(), key);
        return others.size() < row.readers().size()
                ? Decision.free(true, row.withReaders(others))
                : Decision.leave(false);
    }

    static Optional<Response.Granted> find(Row row, Key key, long sinceNanos) {
        return own(row, key).map(own -> granted(row, own.expiresAt(), sinceNanos));
    }

    static List<PermitHold> live(Row row) {
        return row.liveReaders().stream().map(PermitHold::of).toList();
    }

    private static Optional<PermitHold> own(Row row, Key key) {
        return live(row).stream().filter(one -> one.token().equals(key.token())).findFirst();
    }

    private boolean fits(Permits permits) {
        List<PermitHold> holders = live(row);
        long held = holders.stream().mapToLong(PermitHold::count).sum();
        int limit = holders.stream().mapToInt(PermitHold::limit).min().orElse(Integer.MAX_VALUE);
        return held + permits.count() <= Math.min(limit, permits.limit());
    }

    private Decision<Response> grant(Permits permits) {
        long end = newEnd();
        PermitHold hold = PermitHold.granted(request.key().token(), end, permits, row.now(), HolderText.owned(request));
        return Decision.write(granted(row, end, sinceNanos), with(row.liveReaders(), hold));
    }

    private Decision<Response> renew(PermitHold own) {
        long end = request.leaseChange() == LeaseChange.SET ? newEnd() : Math.max(newEnd(), own.expiresAt());
        Response granted = granted(row, end, sinceNanos);
        Row renewed = with(without(row.readers(), request.key()), own.until(end));
        // Who waits goes by the end of the lease that it was told.
        return end < own.expiresAt() ? Decision.free(granted, renewed) : Decision.write(granted, renewed);
    }

    private Decision<Response> conflict() {
        long first = row.liveReaders().stream()
                .mapToLong(SharedHold::expiresAt)
                .min()
                .orElse(row.now());
        Response conflict = new Response.Conflicted(Rules.micros(first - row.now()));
        boolean marks = request.retryIntent() == RetryIntent.AGAIN && !row.waited() && !row.isAbsent();
        return marks ? Decision.write(conflict, row.waitedFor()) : Decision.leave(conflict);
    }

    private Row with(List<SharedHold> others, PermitHold hold) {
        List<SharedHold> all = new ArrayList<>(others);
        all.add(hold.shared());
        return row.withReaders(all);
    }

    private static List<SharedHold> without(List<SharedHold> holds, Key key) {
        return holds.stream().filter(one -> !one.token().equals(key.token())).toList();
    }

    private long newEnd() {
        return row.now() + Rules.micros(request.ttl());
    }

    private static Response.Granted granted(Row row, long end, long sinceNanos) {
        Lease lease = Lease.timed(sinceNanos, Rules.micros(end - row.now()));
        return new Response.Granted(LockMode.SHARED, OptionalLong.empty(), lease);
    }
}

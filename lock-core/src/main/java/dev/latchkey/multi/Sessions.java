package dev.latchkey.multi;

import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * What the parts of one hold are bound to beside time: the whole is lost with the first part that is. Thread-safe.
 *
 * @param lost completes with the first of them that is lost
 * @param signals those that are listened to already: each renewal may bring them again, or the first time
 * @param lives whether each session lives: hardly ever more than one
 */
record Sessions(
        CompletableFuture<LossReason> lost, Set<CompletionStage<LossReason>> signals, Set<BooleanSupplier> lives) {

    Sessions() {
        this(new CompletableFuture<>(), ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
    }

    /** The lease of the whole, which ends with the first of the parts. */
    Lease lease(List<Lease> parts) {
        Lease first = Lease.endless();
        for (Lease part : parts) {
            add(part);
            first = endsSooner(part, first) ? part : first;
        }
        return Lease.session(lost, this::areLive).withTime(first.since(), first.ttl());
    }

    private void add(Lease part) {
        part.lost()
                .filter(signals::add)
                .ifPresent(signal -> signal.whenComplete(
                        (reason, failure) -> lost.complete(reason == null ? LossReason.SESSION_LOST : reason)));
        if (part.isLive() != Lease.ALWAYS) {
            lives.add(part.isLive());
        }
    }

    private boolean areLive() {
        return lives.stream().allMatch(BooleanSupplier::getAsBoolean);
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

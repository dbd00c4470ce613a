package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What Locks of this process hold of one resource; guarded by its line. One that is over by time stays until it is released, or
 * another one takes its place, so that its release can end what it was held under.
 */
final class LocalHolds {

    private final List<LocalHold> holds = new ArrayList<>(1);

    /** The last one that a Lock has begun: one before it may be there still that is over. */
    @Nullable LocalHold find(Key local) {
        for (int i = holds.size() - 1; i >= 0; i--) {
            if (holds.get(i).isOf(local)) {
                return holds.get(i);
            }
        }
        return null;
    }

    /** Begins one, in the place of those that are over. */
    void begin(LocalHold begun, long now) {
        dropOverUnder(begun.kept(), now);
        holds.add(begun);
    }

    private void dropOverUnder(KeptHold kept, long now) {
        holds.removeIf(hold -> hold.kept() == kept && !hold.isLive(now));
    }

    void end(LocalHold ended) {
        holds.remove(ended);
    }

    /** Ends all of a Lock, also those that are over. */
    void endAllOf(Key local) {
        holds.removeIf(hold -> hold.isOf(local));
    }

    /** Ends all under a hold of the store; returns what tells their Locks. */
    List<CompletableFuture<LossReason>> endAll(KeptHold lost) {
        List<CompletableFuture<LossReason>> told = holds.stream()
                .filter(hold -> hold.kept() == lost)
                .map(LocalHold::lost)
                .toList();
        holds.removeIf(hold -> hold.kept() == lost);
        return told;
    }

    void dropGone(long now) {
        holds.removeIf(hold -> hold.kept().isGone(now));
    }

    /** Whether none of them keeps a Lock from holding. */
    boolean admit(LockMode mode, long now) {
        for (LocalHold hold : holds) {
            if ((mode == LockMode.EXCLUSIVE || hold.mode() == LockMode.EXCLUSIVE) && hold.isLive(now)) {
                return false;
            }
        }
        return true;
    }

    boolean areUnder(KeptHold kept, long now) {
        for (LocalHold hold : holds) {
            if (hold.kept() == kept && hold.isLive(now)) {
                return true;
            }
        }
        return false;
    }

    boolean areThereBeside(LocalHold own, long now) {
        return holds.stream().anyMatch(hold -> hold != own && hold.isLive(now));
    }

    boolean areUnderItsHold(LocalHold own, long now) {
        return holds.stream().anyMatch(hold -> hold != own && hold.kept() == own.kept() && hold.isLive(now));
    }

    boolean isEmpty() {
        return holds.isEmpty();
    }

    /** How long none of them ends by time; {@link Long#MAX_VALUE} if none will. */
    long nanosToNextEnd(long now) {
        long next = Long.MAX_VALUE;
        for (LocalHold hold : holds) {
            next = hold.isLive(now) ? Math.min(next, hold.nanosToEnd(now)) : next;
        }
        return next;
    }

    /** How long none under a hold of the store ends by time; zero if there is none. */
    long nanosToNextEnd(KeptHold kept, long now) {
        return holds.stream()
                .filter(hold -> hold.kept() == kept && hold.isLive(now))
                .mapToLong(hold -> hold.nanosToEnd(now))
                .min()
                .orElse(0);
    }
}

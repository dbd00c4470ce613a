package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What becomes of what Locks of this process hold of one resource, until they release it; guarded by its line. */
final class LineUse {

    private final WaitingLocks waiters;
    private final LocalHolds holds;
    private final Keeping keeping;

    LineUse(WaitingLocks waiters, LocalHolds holds, Keeping keeping) {
        this.waiters = waiters;
        this.holds = holds;
        this.keeping = keeping;
    }

    /** What a Lock holds, or held until a moment ago, under its key; null if that is nothing here. */
    @Nullable LocalHold find(Key local) {
        return holds.find(local);
    }

    /** The answer to a Lock about what it holds; null if that has ended. */
    Response.@Nullable Granted answerTo(Key local) {
        LocalHold hold = holds.find(local);
        return hold == null ? null : hold.answer();
    }

    /** What the store is asked for a Lock that holds. */
    record Begun(LocalHold hold, Request asked) {}

    /**
     * Begins a request of a Lock about what it holds; null if it holds nothing here. What that may change other than its end is
     * kept no more before the store is asked: the request may come there late.
     */
    @Nullable Begun begin(Request local) {
        LocalHold hold = holds.find(local.key());
        if (hold == null) {
            return null;
        }
        KeptHold used = hold.kept();
        boolean isSame = local.isSticky() && local.mode() == used.mode() && local.leaseChange() == LeaseChange.EXTEND;
        if (!isSame) {
            keeping.keepNoMore(used);
        }
        Request asked = KeptHold.asked(local, used.claiming(local.key()), isSame && keeping.isKept(used));
        // Those who share it rely on its end.
        return new Begun(hold, isShared(hold) ? asked.with(LeaseChange.EXTEND) : asked);
    }

    private boolean isShared(LocalHold own) {
        return holds.areUnderItsHold(own, System.nanoTime());
    }

    /** A Lock that holds has asked the store about that; returns what it holds now, null if that has ended: then it may hold anew. */
    Response.@Nullable Granted confirm(Request local, Request asked, LocalHold hold, Response.Granted granted) {
        long now = System.nanoTime();
        long before = hold.endNanos();
        boolean isOver = holds.find(local.key()) != hold || !hold.isLive(now);
        // Whoever has it by now, the store keeps it for longer.
        hold.kept().renew(asked, granted, now);
        if (isOver) {
            // Others may have it by now.
            return null;
        }
        // What is kept may last longer than what was asked for, from an earlier moment on.
        long end = KeptHold.endFor(local, granted.lease());
        boolean maySetIt = local.leaseChange() == LeaseChange.SET || end - before > 0;
        hold.renew(granted, maySetIt ? end : before);
        // It may end sooner, or be shared from now on.
        waiters.wakeFirst();
        return hold.answer();
    }

    /** The store has lost a hold. Returns what tells the Locks that held under it. */
    List<CompletableFuture<LossReason>> lose(KeptHold lost) {
        keeping.keepNoMore(lost);
        List<CompletableFuture<LossReason>> told = holds.endAll(lost);
        waiters.wakeFirst();
        return told;
    }

    /** As {@link #lose}, if the Lock has this hold still: the store may know a later token of another one by now. */
    List<CompletableFuture<LossReason>> lose(Key local, LocalHold lost) {
        return holds.find(local) == lost ? lose(lost.kept()) : List.of();
    }

    /** A Lock acquires past the line: what it held here is not its any more. */
    void end(Key local) {
        holds.endAllOf(local);
    }

    /** What a request was about that was not answered may last longer than is known here: it is given back as if recalled. */
    void notAnswered(Request asked, KeptHold used) {
        used.notAnswered(asked);
        if (keeping.isKept(used)) {
            used.recall(System.nanoTime());
        }
    }

    /** The key under which others own what a Lock holds from now on; also what is over by time, which its release would end. */
    Key giveAway(Key local) {
        LocalHold hold = holds.find(local);
        if (hold == null) {
            return local;
        }
        List<CompletableFuture<LossReason>> unused = lose(hold.kept());
        return hold.kept().claiming(local);
    }

    /** The key under which others may share what a Lock holds, which is kept no more; its own if it holds nothing. */
    Key handOut(Key local) {
        LocalHold hold = holds.find(local);
        if (hold == null || !hold.isLive(System.nanoTime())) {
            return local;
        }
        if (isShared(hold)) {
            throw new IllegalStateException(
                    "other Locks of this factory share the hold, so that its key is theirs as well:"
                            + " use a Lock without sticky() to hand out the key of a shared hold");
        }
        keeping.keepNoMore(hold.kept());
        hold.kept().handOut();
        return hold.kept().claiming(local);
    }
}

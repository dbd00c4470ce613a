package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One resource as this process knows it: the hold of the store that it keeps, the Locks that hold under it, and those that wait.
 * One of them at a time asks the store, and the line is busy meanwhile. No method asks the store or runs foreign code.
 */
final class StickyLine {

    private final ReentrantLock guard = new ReentrantLock();
    private final Deque<LocalWaiter> waiters = new ArrayDeque<>(0);
    private final List<LocalHold> holds = new ArrayList<>(1);
    private final RecallHistory history = new RecallHistory();
    private @Nullable KeptHold kept;
    private boolean isBusy;
    private boolean isClosing;
    private boolean isForgotten;

    /** What is used by a Lock under a key of its own; null if that holds nothing here. */
    @Nullable KeptHold usedBy(Key local) {
        guard.lock();
        try {
            return holdOf(local) == null ? null : kept;
        } finally {
            guard.unlock();
        }
    }

    /** Begins a call that does not wait; null if the line is not used any more. */
    @Nullable NextStep begin(Request request) {
        guard.lock();
        try {
            if (isForgotten) {
                return null;
            }
            return waiters.isEmpty() ? step(request, System.nanoTime()) : NextStep.Refused.REFUSED;
        } finally {
            guard.unlock();
        }
    }

    /** Goes on with a call that does not wait, when what it had to do first is done. */
    NextStep proceed(Request request) {
        guard.lock();
        try {
            return step(request, System.nanoTime());
        } finally {
            guard.unlock();
        }
    }

    /** Joins those who wait; null if the line is not used any more. */
    @Nullable LocalWaiter join(Request request) {
        guard.lock();
        try {
            if (isForgotten) {
                return null;
            }
            LocalWaiter waiter = new LocalWaiter(request, guard.newCondition());
            waiters.addLast(waiter);
            return waiter;
        } finally {
            guard.unlock();
        }
    }

    /** Waits until there is something to do for a waiter; refused if its time is over, or it was withdrawn. */
    NextStep await(LocalWaiter waiter, long endNanos) throws InterruptedException {
        guard.lockInterruptibly();
        try {
            while (true) {
                if (waiter.granted() != null) {
                    return new NextStep.Holds(waiter.granted());
                }
                long now = System.nanoTime();
                if (waiter.isWithdrawn() || endNanos - now <= 0) {
                    return NextStep.Refused.REFUSED;
                }
                boolean isFirst = waiters.peekFirst() == waiter;
                NextStep step = isFirst ? step(waiter.request(), now) : NextStep.Refused.REFUSED;
                if (!(step instanceof NextStep.Refused)) {
                    return step;
                }
                waiter.await(Math.min(endNanos - now, nanosToLocalEnd(now)), !holds.isEmpty());
            }
        } finally {
            guard.unlock();
        }
    }

    void withdraw(LocalWaiter waiter) {
        guard.lock();
        try {
            waiter.withdraw();
        } finally {
            guard.unlock();
        }
    }

    /** The wait is over. Returns whether it was granted something that it does not take. */
    boolean leave(LocalWaiter waiter, NextStep end) {
        guard.lock();
        try {
            boolean wasFirst = waiters.peekFirst() == waiter;
            waiters.remove(waiter);
            if (wasFirst) {
                wakeFirst();
            }
            return waiter.granted() != null && !(end instanceof NextStep.Holds);
        } finally {
            guard.unlock();
        }
    }

    private NextStep step(Request request, long now) {
        if (isBusy) {
            return NextStep.Refused.REFUSED;
        }
        dropOver(now);
        if (!admits(request.mode())) {
            return NextStep.Refused.REFUSED;
        }
        KeptHold current = kept;
        if (current != null && holds.isEmpty() && !current.isKept()) {
            // Its Lock is gone, and others may have its key: it ends with its lease.
            kept = null;
            current = null;
        }
        if (current == null) {
            isBusy = true;
            return new NextStep.Ask(waiters.size() > 1 || history.keeps(now));
        }
        if (current.mode() != request.mode() || !current.mayPassOn(now)) {
            if (!holds.isEmpty()) {
                return NextStep.Refused.REFUSED;
            }
            isBusy = true;
            kept = null;
            return new NextStep.Release(current);
        }
        if (current.suffices(request, now)) {
            return new NextStep.Holds(hold(request, current, now));
        }
        isBusy = true;
        return new NextStep.Renew(current);
    }

    /** Whether nobody here keeps a Lock from holding. */
    private boolean admits(LockMode mode) {
        return holds.isEmpty()
                || (mode == LockMode.SHARED && holds.stream().allMatch(hold -> hold.mode() == LockMode.SHARED));
    }

    /** Begins a hold of a Lock at a moment, for its whole TTL. */
    private Response.Granted hold(Request request, KeptHold current, long now) {
        LocalHold begun = new LocalHold(
                request.key().token(),
                current.mode(),
                current.nextToken(),
                now + request.ttl().toNanos());
        holds.add(begun);
        return begun.answer(now, current.lease());
    }

    /** What is over by time is not held any more. */
    private void dropOver(long now) {
        if (kept != null && kept.isOver(now)) {
            kept = null;
            holds.clear();
        } else {
            holds.removeIf(hold -> hold.isOver(now));
        }
    }

    /** The store has answered whoever asked it for a hold; null if it has granted none. */
    @Nullable KeptHold answered(Request local, Request asked, Response response) {
        guard.lock();
        try {
            endBusy();
            if (!(response instanceof Response.Granted granted)) {
                return null;
            }
            kept = new KeptHold(asked.key(), granted, asked, System.nanoTime());
            holds.add(new LocalHold(
                    local.key().token(), granted.mode(), granted.fencingToken(), endOf(granted.lease(), local)));
            return kept;
        } finally {
            guard.unlock();
        }
    }

    private static long endOf(Lease lease, Request local) {
        long asked = local.ttl().toNanos();
        return lease.since().orElseThrow() + Math.min(asked, lease.ttl().toNanos());
    }

    /** The answer to a Lock about what it has been granted; null if that has ended meanwhile. */
    Response.@Nullable Granted answerTo(Key local) {
        guard.lock();
        try {
            LocalHold hold = holdOf(local);
            return hold == null || kept == null
                    ? null
                    : hold.answer(kept.lease().since().orElseThrow(), kept.lease());
        } finally {
            guard.unlock();
        }
    }

    /** The store has answered whoever renewed what is kept. Returns what it holds now; null if there is nothing kept. */
    Response.@Nullable Granted renewed(Request local, Request asked, KeptHold current, Response response) {
        guard.lock();
        try {
            endBusy();
            if (kept != current) {
                return null;
            }
            if (!(response instanceof Response.Granted granted)) {
                kept = null;
                return null;
            }
            long now = System.nanoTime();
            current.renew(granted, asked, now);
            return hold(local, current, now);
        } finally {
            guard.unlock();
        }
    }

    /** What had to be done is done, or has failed. Returns what is to be released now, for which the line is busy again. */
    @Nullable KeptHold done() {
        guard.lock();
        try {
            endBusy();
            KeptHold current = kept;
            boolean isDue = current != null && (current.isRecalled() || isClosing);
            return isDue && endIdle(System.nanoTime()) ? current : null;
        } finally {
            guard.unlock();
        }
    }

    private void endBusy() {
        isBusy = false;
        wakeFirst();
    }

    /** A Lock that holds has asked the store about that; returns false if it has ended meanwhile. */
    boolean confirm(Request local, Request asked, KeptHold current, Response.Granted granted) {
        guard.lock();
        try {
            LocalHold hold = holdOf(local.key());
            if (hold == null || kept != current) {
                return false;
            }
            long now = System.nanoTime();
            current.renew(granted, asked, now);
            long end = endOf(granted.lease(), local);
            boolean isSooner = local.leaseChange() == LeaseChange.SET;
            long keptEnd = isSooner ? end : Math.max(end, now + hold.nanosToEnd(now));
            OptionalLong token = granted.mode() == LockMode.EXCLUSIVE ? granted.fencingToken() : OptionalLong.empty();
            hold.renew(granted.mode(), token, keptEnd);
            return true;
        } finally {
            guard.unlock();
        }
    }

    /** What a Lock held is to be released: it is passed on or kept, if it can be; else the store has to release it. */
    NextStep release(Key local) {
        guard.lock();
        try {
            LocalHold hold = holdOf(local);
            KeptHold current = kept;
            if (hold == null || current == null) {
                return NextStep.Refused.REFUSED;
            }
            long now = System.nanoTime();
            holds.remove(hold);
            boolean passesOn = !isClosing && current.mayPassOn(now);
            if (!holds.isEmpty() || (passesOn && (passOn(now) || staysIdle(current, now)))) {
                return new NextStep.Holds(hold.answer(now, current.lease()));
            }
            kept = null;
            isBusy = true;
            return new NextStep.Release(current);
        } finally {
            guard.unlock();
        }
    }

    private boolean staysIdle(KeptHold current, long now) {
        if (!waiters.isEmpty()) {
            // Its first needs more than what is kept, and sees to that itself.
            wakeFirst();
            return true;
        }
        return !current.isRecalled() && history.keeps(now);
    }

    /** Grants what is kept to the first who wait, if they need nothing else. */
    private boolean passOn(long now) {
        boolean isPassedOn = false;
        KeptHold current = kept;
        LocalWaiter first = waiters.peekFirst();
        while (current != null
                && first != null
                && !isBusy
                && !first.isWithdrawn()
                && first.request().mode() == current.mode()
                && admits(current.mode())
                && current.suffices(first.request(), now)) {
            waiters.removeFirst();
            first.grant(hold(first.request(), current, now));
            isPassedOn = true;
            first = waiters.peekFirst();
        }
        if (isPassedOn && first != null && !first.looksForEnds()) {
            first.wake();
        }
        return isPassedOn;
    }

    /** Somebody else asks for the resource. Returns whether what is kept is to be released, for which the line is busy. */
    boolean recall(KeptHold recalled) {
        guard.lock();
        try {
            if (kept != recalled || recalled.isRecalled()) {
                return false;
            }
            long now = System.nanoTime();
            recalled.recall(now);
            history.recalled(recalled.grantedAt(), now);
            return endIdle(now);
        } finally {
            guard.unlock();
        }
    }

    /** The factory is closed: what is idle is released now, the rest when it is. Returns what the caller has to release. */
    @Nullable KeptHold close() {
        guard.lock();
        try {
            isClosing = true;
            KeptHold current = kept;
            return endIdle(System.nanoTime()) ? current : null;
        } finally {
            guard.unlock();
        }
    }

    private boolean endIdle(long now) {
        dropOver(now);
        if (kept == null || !kept.isKept() || isBusy || !holds.isEmpty()) {
            return false;
        }
        kept = null;
        isBusy = true;
        return true;
    }

    /** The store has lost a hold. Returns what tells the Locks that held under it. */
    List<CompletableFuture<LossReason>> lose(KeptHold lost) {
        guard.lock();
        try {
            if (kept != lost) {
                return List.of();
            }
            List<CompletableFuture<LossReason>> told =
                    holds.stream().map(LocalHold::lost).toList();
            holds.clear();
            kept = null;
            wakeFirst();
            return told;
        } finally {
            guard.unlock();
        }
    }

    /** The key under which the store knows what a Lock holds, for somebody who may use it elsewhere: it is not kept any more. */
    Key handOut(Key local) {
        guard.lock();
        try {
            if (holdOf(local) == null || kept == null) {
                return local;
            }
            kept.keepNoMore();
            return kept.claiming(local);
        } finally {
            guard.unlock();
        }
    }

    /** As {@link #handOut}, for somebody who is the holder from now on. */
    Key giveAway(Key local) {
        guard.lock();
        try {
            Key given = handOut(local);
            if (given != local) {
                holds.clear();
                kept = null;
                wakeFirst();
            }
            return given;
        } finally {
            guard.unlock();
        }
    }

    boolean isKept() {
        guard.lock();
        try {
            dropOver(System.nanoTime());
            return kept != null;
        } finally {
            guard.unlock();
        }
    }

    /** Whether the line is out of use, and used no more from now on. */
    boolean forget() {
        guard.lock();
        try {
            long now = System.nanoTime();
            dropOver(now);
            isForgotten = !isBusy && kept == null && waiters.isEmpty() && history.isForgettable(now);
            return isForgotten;
        } finally {
            guard.unlock();
        }
    }

    private @Nullable LocalHold holdOf(Key local) {
        for (LocalHold hold : holds) {
            if (hold.isOf(local.token())) {
                return hold;
            }
        }
        return null;
    }

    private long nanosToLocalEnd(long now) {
        return holds.stream()
                .mapToLong(hold -> Math.max(1, hold.nanosToEnd(now)))
                .max()
                .orElse(Long.MAX_VALUE);
    }

    private void wakeFirst() {
        LocalWaiter first = waiters.peekFirst();
        if (first != null) {
            first.wake();
        }
    }
}

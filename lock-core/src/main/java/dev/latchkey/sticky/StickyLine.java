package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The guard of one resource, and where those who wait for it here wait. No method asks the store or runs foreign code. Each does
 * what {@link LineState} or {@link LineUse} says of the method with its name.
 */
final class StickyLine {

    private final ReentrantLock guard = new ReentrantLock();
    private final LineState state;
    private final LineUse use;

    /**
     * Creates a line that nobody is in.
     *
     * @param closing whether the factory is closed
     */
    StickyLine(AtomicBoolean closing) {
        WaitingLocks waiters = new WaitingLocks();
        LocalHolds holds = new LocalHolds();
        Keeping keeping = new Keeping(closing);
        this.state = new LineState(waiters, holds, keeping);
        this.use = new LineUse(waiters, holds, keeping);
    }

    private <T extends @Nullable Object> T guarded(Supplier<T> work) {
        guard.lock();
        try {
            return work.get();
        } finally {
            guard.unlock();
        }
    }

    private void guardedRun(Runnable work) {
        guard.lock();
        try {
            work.run();
        } finally {
            guard.unlock();
        }
    }

    @Nullable NextStep begin(Request request) {
        return guarded(() -> state.begin(request));
    }

    NextStep proceed(Request request) {
        return guarded(() -> state.proceed(request));
    }

    NextStep promote(Request request) {
        return guarded(() -> state.promote(request));
    }

    @Nullable LocalWaiter join(Request request) {
        return guarded(() -> state.join(new LocalWaiter(request, guard.newCondition())));
    }

    @Nullable LocalWaiter joinToPromote(Request request) {
        return guarded(() -> state.joinToPromote(new LocalWaiter(request, guard.newCondition())));
    }

    /** Waits until there is something to do for a waiter; refused if its time is over, or it was withdrawn. */
    NextStep await(LocalWaiter waiter, long endNanos) throws InterruptedException {
        guard.lockInterruptibly();
        try {
            while (true) {
                long now = System.nanoTime();
                NextStep step = state.next(waiter, now, endNanos);
                if (step != null) {
                    return step;
                }
                state.await(waiter, now, endNanos);
            }
        } finally {
            guard.unlock();
        }
    }

    void withdraw(LocalWaiter waiter) {
        guardedRun(waiter::withdraw);
    }

    boolean leave(LocalWaiter waiter, NextStep end) {
        return guarded(() -> state.leave(waiter, end));
    }

    Response.Granted granted(Request local, Request asked, KeptHold granted) {
        return guarded(() -> state.granted(local, asked, granted));
    }

    Response.@Nullable Granted renewed(Request local, Request asked, KeptHold current, Response response) {
        return guarded(() -> state.renewed(local, asked, current, response));
    }

    @Nullable KeptHold notRenewed(Request asked, KeptHold current) {
        return guarded(() -> state.notRenewed(asked, current));
    }

    @Nullable KeptHold done() {
        return guarded(state::done);
    }

    @Nullable KeptHold promotionDone() {
        return guarded(state::promotionDone);
    }

    @Nullable KeptHold due() {
        return guarded(state::due);
    }

    NextStep release(Key local) {
        return guarded(() -> state.release(local));
    }

    void wakeFirst() {
        guardedRun(state::wakeFirst);
    }

    boolean recall(KeptHold recalled) {
        return guarded(() -> state.recall(recalled));
    }

    boolean isRecalled(KeptHold used) {
        return guarded(used::isRecalled);
    }

    /** A hold that lasts as long as a session is never over by time. */
    boolean isOverByTime(KeptHold used) {
        return guarded(() -> used.isTimed() && used.isGone(System.nanoTime()));
    }

    OptionalLong nextEndNanos(KeptHold used) {
        return guarded(() -> state.nextEndNanos(used));
    }

    boolean endOverdue(KeptHold used) {
        return guarded(() -> state.endOverdue(used));
    }

    @Nullable KeptHold close() {
        return guarded(state::close);
    }

    boolean isKept() {
        return guarded(state::isKept);
    }

    boolean forget() {
        return guarded(state::forget);
    }

    @Nullable LocalHold find(Key local) {
        return guarded(() -> use.find(local));
    }

    Response.@Nullable Granted answerTo(Key local) {
        return guarded(() -> use.answerTo(local));
    }

    LineUse.@Nullable Begun beginUse(Request local) {
        return guarded(() -> use.begin(local));
    }

    Response.@Nullable Granted confirm(Request local, Request asked, LocalHold hold, Response.Granted granted) {
        return guarded(() -> use.confirm(local, asked, hold, granted));
    }

    List<CompletableFuture<LossReason>> lose(KeptHold lost) {
        return guarded(() -> use.lose(lost));
    }

    List<CompletableFuture<LossReason>> lose(Key local, LocalHold lost) {
        return guarded(() -> use.lose(local, lost));
    }

    void beginRequest(KeptHold used) {
        guardedRun(used::beginRequest);
    }

    void endRequest(KeptHold used) {
        guardedRun(used::endRequest);
    }

    void notAnswered(Request asked, KeptHold used) {
        guardedRun(() -> use.notAnswered(asked, used));
    }

    void end(Key local) {
        guardedRun(() -> use.end(local));
    }

    Key handOut(Key local) {
        return guarded(() -> use.handOut(local));
    }

    Key giveAway(Key local) {
        return guarded(() -> use.giveAway(local));
    }
}

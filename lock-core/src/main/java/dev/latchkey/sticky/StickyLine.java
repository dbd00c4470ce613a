package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The guard of one resource, and where those who wait for it here wait. No method asks the store or runs foreign code. Each does
 * what {@link LineState} says of the method with its name.
 */
final class StickyLine {

    private final ReentrantLock guard = new ReentrantLock();
    private final LineState state = new LineState();

    private <T extends @Nullable Object> T guarded(Function<LineState, T> work) {
        guard.lock();
        try {
            return work.apply(state);
        } finally {
            guard.unlock();
        }
    }

    @Nullable NextStep begin(Request request) {
        return guarded(line -> line.begin(request));
    }

    NextStep proceed(Request request) {
        return guarded(line -> line.proceed(request));
    }

    NextStep promote(Request request) {
        return guarded(line -> line.promote(request));
    }

    boolean leave(LocalWaiter waiter, NextStep end) {
        return guarded(line -> line.leave(waiter, end));
    }

    Response.Granted granted(Request local, Request asked, KeptHold granted) {
        return guarded(line -> line.granted(local, asked, granted));
    }

    Response.@Nullable Granted renewed(Request local, Request asked, KeptHold current, Response response) {
        return guarded(line -> line.renewed(local, asked, current, response));
    }

    @Nullable KeptHold done() {
        return guarded(line -> line.done());
    }

    @Nullable KeptHold due() {
        return guarded(line -> line.due());
    }

    @Nullable LocalHold find(Key local) {
        return guarded(line -> line.find(local));
    }

    Response.@Nullable Granted answerTo(Key local) {
        return guarded(line -> line.answerTo(local));
    }

    boolean staysKept(Request local, KeptHold used) {
        return guarded(line -> line.staysKept(local, used));
    }

    boolean isShared(LocalHold own) {
        return guarded(line -> line.isShared(own));
    }

    Response.@Nullable Granted confirm(Request local, Request asked, KeptHold used, Response.Granted granted) {
        return guarded(line -> line.confirm(local, asked, used, granted));
    }

    NextStep release(Key local) {
        return guarded(line -> line.release(local));
    }

    boolean recall(KeptHold recalled) {
        return guarded(line -> line.recall(recalled));
    }

    @Nullable KeptHold close() {
        return guarded(line -> line.close());
    }

    List<CompletableFuture<LossReason>> lose(KeptHold lost) {
        return guarded(line -> line.lose(lost));
    }

    boolean handOut(LocalHold used) {
        return guarded(line -> line.handOut(used));
    }

    boolean isKept() {
        return guarded(line -> line.isKept());
    }

    boolean forget() {
        return guarded(line -> line.forget());
    }

    @Nullable LocalWaiter join(Request request) {
        return guarded(line -> line.join(new LocalWaiter(request, guard.newCondition())));
    }

    @Nullable LocalWaiter joinToPromote(Request request) {
        return guarded(line -> line.joinToPromote(new LocalWaiter(request, guard.newCondition())));
    }

    void giveAway(LocalHold given) {
        guard.lock();
        try {
            state.giveAway(given);
        } finally {
            guard.unlock();
        }
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
                waiter.await(Math.min(endNanos - now, state.nanosToNextEnd(now)), state.isHeld());
            }
        } finally {
            guard.unlock();
        }
    }

    void wakeFirst() {
        guard.lock();
        try {
            state.wakeFirst();
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
}

package dev.latchkey.sticky;

import dev.latchkey.spi.Response;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Who waits here for one resource, in order of arrival; guarded by its line. */
final class WaitingLocks {

    private final Deque<LocalWaiter> waiters = new ArrayDeque<>(0);

    LocalWaiter add(LocalWaiter waiter) {
        waiters.addLast(waiter);
        return waiter;
    }

    /** Null if another one waits to have promoted what it holds. */
    @Nullable LocalWaiter addFirst(LocalWaiter promoter) {
        LocalWaiter first = waiters.peekFirst();
        if (first != null && first.isPromoter()) {
            return null;
        }
        waiters.addFirst(promoter);
        return promoter;
    }

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    /** Whether somebody waits behind the first. */
    boolean areSeveral() {
        return waiters.size() > 1;
    }

    @Nullable LocalWaiter first() {
        return waiters.peekFirst();
    }

    boolean isFirst(LocalWaiter waiter) {
        return waiters.peekFirst() == waiter;
    }

    /** Grants something to the first. */
    void pass(LocalWaiter first, Response.Granted granted) {
        waiters.remove(first);
        first.grant(granted);
    }

    void remove(LocalWaiter waiter) {
        boolean wasFirst = isFirst(waiter);
        waiters.remove(waiter);
        if (wasFirst) {
            wakeFirst();
        }
    }

    void wakeFirst() {
        LocalWaiter first = waiters.peekFirst();
        if (first != null) {
            first.wake();
        }
    }

    /** Wakes the first if it is to act, or does not look for holds that end. */
    void wakeFirst(boolean isToAct) {
        LocalWaiter first = waiters.peekFirst();
        if (first != null && (isToAct || !first.looksForEnds())) {
            first.wake();
        }
    }

    void wakePromoter() {
        LocalWaiter first = waiters.peekFirst();
        if (first != null && first.isPromoter()) {
            first.wake();
        }
    }
}

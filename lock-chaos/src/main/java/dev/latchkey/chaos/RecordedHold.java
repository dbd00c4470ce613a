package dev.latchkey.chaos;

import dev.latchkey.Lock;
import dev.latchkey.LockException;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.OptionalLong;

/** What an {@link Actor} holds: it asks the store about it, and writes down what it believes. */
final class RecordedHold {

    /** The hold in its mode of now; the Lock itself forgets its token with its hold. */
    record Granted(String id, String resource, LockMode mode, OptionalLong token) {}

    private final Lock lock;
    private final ActorContext context;
    /** Read by the thread that is told of its loss as well. */
    private volatile Granted now;

    /** The log has it already that it was granted. */
    RecordedHold(Lock lock, Granted granted, ActorContext context) {
        this.lock = lock;
        this.now = granted;
        this.context = context;
        lock.onLost(reason -> context.log().lost(now.id(), System.nanoTime()));
    }

    Lock lock() {
        return lock;
    }

    Granted now() {
        return now;
    }

    /** It goes on in another mode, as the log has it already. */
    void becomes(Granted next) {
        now = next;
        if (lock.isExpired()) {
            // Whoever was told of it a moment ago has written it down of the hold before.
            context.log().lost(next.id(), System.nanoTime());
        }
    }

    /** Renews it, if that succeeds. */
    void refresh() {
        long asked = System.nanoTime();
        context.asks();
        try {
            lock.refresh();
        } catch (LockLostException e) {
            context.log().lost(now.id(), System.nanoTime());
        } catch (LockStorageException e) {
            // Held as long as it was. The next line of the log says so.
        }
        believe(asked);
    }

    /**
     * Writes down until when it is believed in. The time is read first: a freeze in between makes the belief shorter than it was,
     * never longer.
     *
     * @param asked when the store was asked last
     */
    void believe(long asked) {
        long at = System.nanoTime();
        OptionalLong end = end(lock, at);
        OptionalLong seen = lock.fencingToken();
        if (lock.isExpired() || (end.isPresent() && end.getAsLong() <= at)) {
            return;
        }
        context.log().kept(now.id(), asked, at, end);
        if (!seen.equals(now.token())) {
            context.log()
                    .violated(Rule.TOKENS, now.id() + " had token " + show(now.token()) + " and then " + show(seen));
        }
    }

    private static String show(OptionalLong token) {
        return token.isPresent() ? Long.toString(token.getAsLong()) : EventLog.NONE;
    }

    /** Until when it is held, as it looks at a time; empty if no clock knows. */
    static OptionalLong end(Lock lock, long at) {
        return lock.remainingLifetime()
                .map(Duration::toNanos)
                .map(left -> OptionalLong.of(at + left))
                .orElseGet(OptionalLong::empty);
    }

    void release() {
        long before = System.nanoTime();
        if (!lock.isExpired()) {
            context.log().ended(now.id(), before);
        }
        context.asks();
        try {
            boolean wasHeld = lock.release();
            context.log().released(now.id(), System.nanoTime(), wasHeld);
        } catch (LockException e) {
            // Its lease, or its session, ends it.
        }
    }
}

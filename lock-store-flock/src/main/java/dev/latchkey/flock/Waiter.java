package dev.latchkey.flock;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** A caller that waits for a file. Guarded by the file's guard. */
final class Waiter {

    private static final long SHORTEST_PAUSE_NANOS = 100_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    private final Request request;
    private final ResourceFile name;
    private final Owner owner;
    private final boolean promotes;
    private final Condition changed;
    private long pauseNanos;
    private boolean looks;
    private boolean answered;
    private @Nullable Response answer;
    private @Nullable IOException failure;
    private boolean withdrawn;

    /**
     * Creates a waiter that is not in the queue yet.
     *
     * @param own its hold, if it waits to promote
     */
    Waiter(Request request, ResourceFile name, @Nullable Grant own, Condition changed) {
        this.request = request;
        this.name = name;
        this.owner = name.owner(request.key());
        this.promotes = own != null;
        this.changed = changed;
    }

    Request request() {
        return request;
    }

    ResourceFile name() {
        return name;
    }

    Owner owner() {
        return owner;
    }

    LockMode mode() {
        return request.mode();
    }

    boolean isPromoter() {
        return promotes;
    }

    void answer(Response given) {
        answered = true;
        answer = given;
        changed.signal();
    }

    /** The name leads to another file now, or there is nothing left to promote: the call starts over. */
    void startOver() {
        answered = true;
        changed.signal();
    }

    void fail(IOException cause) {
        answered = true;
        failure = cause;
        changed.signal();
    }

    void withdraw() {
        withdrawn = true;
        changed.signal();
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    boolean isGranted() {
        return answer instanceof Response.Granted;
    }

    /** Returns the result of the wait; null to start over. */
    @Nullable Response outcome() throws IOException {
        if (withdrawn || !answered) {
            return Response.Conflicted.NO_HINT;
        }
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    /** Nothing will wake this waiter: it polls, with growing pauses. */
    void lookAgainLater() {
        long longer = Math.min(Math.max(SHORTEST_PAUSE_NANOS, 2 * pauseNanos), LONGEST_PAUSE_NANOS);
        pauseNanos = ThreadLocalRandom.current().nextLong(longer / 2, longer);
        looks = true;
        changed.signal();
    }

    /** From now on this waiter is woken. If it polls again, its pauses continue to grow: it waits for the same thing. */
    void lookNoMore() {
        looks = false;
    }

    /** The lock may be free soon: the next pause is short again. */
    void lookSoonAgain() {
        pauseNanos = 0;
    }

    /** Waits for an answer, until the end or a withdrawal. */
    void await(LockEntry entry, long endNanos) throws InterruptedException {
        while (!answered && !withdrawn) {
            long left = endNanos - System.nanoTime();
            if (left <= 0) {
                return;
            }
            boolean looksInTime = looks && pauseNanos < left;
            if (changed.awaitNanos(looksInTime ? pauseNanos : left) <= 0 && looksInTime && !answered && !withdrawn) {
                entry.serve();
            }
        }
    }
}

package dev.latchkey.store;

import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One who waits in a room; guarded by the stripe. */
final class Waiter {

    private final Request request;
    private final Condition changed;
    private final long sinceNanos = System.nanoTime();
    private @Nullable Response answer;
    private ResourceHolders.@Nullable Stake stake;
    private boolean withdrawn;

    Waiter(Request request, Condition changed) {
        this.request = request;
        this.changed = changed;
    }

    Request request() {
        return request;
    }

    QueuedWaiter shown(long now) {
        return new QueuedWaiter(
                request.mode(),
                Optional.of(Duration.ofNanos(Math.max(0, now - sinceNanos))),
                Optional.of(request.owner()).filter(owner -> !owner.isEmpty()));
    }

    boolean isPromoter() {
        return request.key().held().isPresent();
    }

    /** What the wait ended with; empty when its time was over or it was withdrawn. */
    Optional<Response> answer() {
        return Optional.ofNullable(answer);
    }

    void answer(Response given) {
        answer = given;
        wake();
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    void withdraw() {
        withdrawn = true;
        wake();
    }

    /** What it was told of, to be given back if it does not take it. */
    Optional<ResourceHolders.Stake> stake() {
        return Optional.ofNullable(stake);
    }

    void setStake(ResourceHolders.Stake granted) {
        stake = granted;
    }

    void wake() {
        changed.signal();
    }

    /** Whether the wait has an answer, or was withdrawn. */
    boolean isOver() {
        return answer != null || withdrawn;
    }

    Condition changed() {
        return changed;
    }
}

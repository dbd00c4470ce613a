package dev.latchkey.store;

import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One who waits for permits; guarded by the table. */
final class PermitWaiter {

    private final Request request;
    private final Permits permits;
    private final Condition changed;
    private @Nullable Response answer;
    private boolean withdrawn;

    PermitWaiter(Request request, Condition changed) {
        this.request = request;
        this.permits = Permits.of(request.key());
        this.changed = changed;
    }

    Request request() {
        return request;
    }

    Permits permits() {
        return permits;
    }

    Condition changed() {
        return changed;
    }

    void grant(Response granted) {
        answer = granted;
        changed.signal();
    }

    void withdraw() {
        withdrawn = true;
        changed.signal();
    }

    /** Whether the wait was answered or withdrawn. */
    boolean isOver() {
        return answer != null || withdrawn;
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    /** What was granted, also if the wait was withdrawn meanwhile. */
    Optional<Response> granted() {
        return Optional.ofNullable(answer);
    }
}

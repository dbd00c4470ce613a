package dev.latchkey.mysql;

import dev.latchkey.spi.Request;
import java.sql.SQLException;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One who waits in a room: granted, failed, withdrawn, or none of it yet. Guarded by the room. */
final class Waiter {

    private final Request request;
    private final Condition changed;
    private @Nullable ServerWait wait;
    private @Nullable Hold granted;
    private @Nullable SQLException failure;
    private boolean withdrawn;

    Waiter(Request request, Condition changed) {
        this.request = request;
        this.changed = changed;
    }

    Request request() {
        return request;
    }

    @Nullable ServerWait serverWait() {
        return wait;
    }

    void waitsInServer(ServerWait begun) {
        wait = begun;
    }

    void grant(Hold hold) {
        granted = hold;
        changed.signal();
    }

    @Nullable Hold granted() {
        return granted;
    }

    void fail(SQLException cause) {
        failure = cause;
        changed.signal();
    }

    @Nullable SQLException failure() {
        return failure;
    }

    void withdraw() {
        withdrawn = true;
        changed.signal();
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    boolean isOver() {
        return granted != null || failure != null || withdrawn;
    }

    void await(long endNanos) throws InterruptedException {
        while (!isOver() && pause(endNanos - System.nanoTime()) > 0) {
            // Woken for nothing, or for an answer.
        }
    }

    @SuppressWarnings("WaitNotInLoop") // The caller loops.
    private long pause(long nanos) throws InterruptedException {
        return nanos <= 0 ? 0 : changed.awaitNanos(nanos);
    }
}

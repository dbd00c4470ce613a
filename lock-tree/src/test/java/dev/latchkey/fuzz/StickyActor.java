package dev.latchkey.fuzz;

import dev.latchkey.Glimpse;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A Lock of a {@link StickySchedule}, and what it believes. */
final class StickyActor {

    private final String name;
    private final StickySchedule.Node process;
    private final Lock lock;
    private final Glimpse glimpse;
    private final boolean received;
    private final boolean isSticky;
    private final Duration ttl;
    private @Nullable Object hold;
    private OptionalLong token = OptionalLong.empty();
    private OptionalLong outlasted = OptionalLong.empty();
    private boolean isNew;
    private boolean hasLost;
    private boolean isLost;
    private long lostAt;
    private boolean isHandedOut;
    private int waiting;

    StickyActor(String name, StickySchedule.Node process, Lock lock, boolean isSticky, Duration ttl) {
        this.name = name;
        this.isSticky = isSticky;
        this.ttl = ttl;
        this.process = process;
        this.lock = lock;
        this.glimpse = Glimpse.of(lock);
        this.received = glimpse.key().held().isPresent();
    }

    String name() {
        return name;
    }

    StickySchedule.Node process() {
        return process;
    }

    Lock lock() {
        return lock;
    }

    /** Who is dead believes nothing. */
    boolean isLive() {
        return !process.border().isDead();
    }

    boolean isHeld() {
        return glimpse.isHeld();
    }

    boolean isExclusive() {
        return glimpse.isHeld() && glimpse.mode() == LockMode.EXCLUSIVE;
    }

    OptionalLong fencingToken() {
        return glimpse.fencingToken();
    }

    boolean isSticky() {
        return isSticky;
    }

    /** Whether its own clock has ended the exclusive hold under this token. */
    boolean hasOutlasted(long fencingToken) {
        return outlasted.equals(OptionalLong.of(fencingToken));
    }

    /** Whether one of its holds was lost so far: what the store still has of it ends with its lease. */
    boolean hasLost() {
        return hasLost;
    }

    /** Whether it was lost so lately that a renewal may have come too late for the Lock alone. */
    boolean hasJustLost(long now) {
        return hasLost && now - lostAt <= ttl.toNanos();
    }

    /** Others may know its key. */
    void handsOut() {
        isHandedOut = true;
    }

    boolean isHandedOut() {
        return isHandedOut;
    }

    void beginsToWait() {
        waiting++;
    }

    void endsToWait() {
        waiting--;
    }

    /** Whether a call of it waits for others. */
    boolean isWaiting() {
        return waiting > 0;
    }

    /** Notes whether an exclusive hold has begun: one that was taken for shared without an answer may come back. */
    void look(long now) {
        Object current = glimpse.hold();
        boolean isOver = current != null && !glimpse.isHeld();
        boolean wasLost = isLost;
        isLost = glimpse.loss() != null || isOver;
        hasLost |= isLost;
        lostAt = isLost && !wasLost ? now : lostAt;
        if (token.isPresent() && (isOver || glimpse.loss() == LossReason.EXPIRED)) {
            outlasted = token;
        }
        OptionalLong currentToken = glimpse.fencingToken();
        if (current != hold) {
            token = OptionalLong.empty();
        }
        if (currentToken.isPresent() && !currentToken.equals(token)) {
            isNew = true;
            token = currentToken;
        }
        hold = current;
    }

    boolean isNew() {
        return isNew;
    }

    void seen() {
        isNew = false;
    }

    /** Whether what it holds may be what another has given it, or what it has left to others. */
    boolean isShared() {
        return received || isHandedOut;
    }
}

package dev.latchkey.sticky;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What the line of a resource keeps for the next Lock that asks, unless it is recalled, or used in another way than it was
 * granted; guarded by the line. One Lock at a time asks the store for a hold, or about the one that is kept: the line is busy
 * meanwhile.
 */
final class Keeping {

    private final RecallHistory history = new RecallHistory();

    /** Whether the factory is closed: from then on nothing is kept. The lines of a factory share it. */
    private final AtomicBoolean closing;

    private @Nullable KeptHold kept;

    /** What is being released although it is idle. */
    private @Nullable KeptHold leaving;

    /** What the store is asked for the line as a whole. */
    private enum Call {
        NONE,

        /** A hold, while nothing is kept; the request may wait for others in the store. */
        ACQUIRE,

        /** To renew or to release what was kept. */
        CHANGE
    }

    private Call call = Call.NONE;

    /** A promotion of what one Lock holds goes on beside a call that acquires. */
    private boolean isPromoting;

    Keeping(AtomicBoolean closing) {
        this.closing = closing;
    }

    @Nullable KeptHold kept() {
        return kept;
    }

    boolean isKept(KeptHold used) {
        return kept == used;
    }

    /** What is being released although it is idle. */
    @Nullable KeptHold leaving() {
        return leaving;
    }

    boolean isBusy() {
        return call != Call.NONE;
    }

    /**
     * Whether a promotion has to wait for what is done here. Not for a request that waits in the store: others may wait there
     * before it, for what is to be promoted.
     */
    boolean keepsPromotionBack() {
        return isPromoting || call == Call.CHANGE;
    }

    boolean isPromoting() {
        return isPromoting;
    }

    void beginPromotion() {
        isPromoting = true;
    }

    void endPromotion() {
        isPromoting = false;
    }

    /** Asks the store to renew or to release what is kept. */
    void change() {
        call = Call.CHANGE;
    }

    /** Asks the store for a hold: nothing is kept. */
    void acquire() {
        call = Call.ACQUIRE;
    }

    void endCall() {
        call = Call.NONE;
        leaving = null;
    }

    void keep(KeptHold begun) {
        kept = begun;
    }

    void keepNoMore(KeptHold used) {
        kept = kept == used ? null : kept;
    }

    /** What somebody is renewing is gone only if the store says so; what it may keep still is to be released. */
    void dropGone(long now) {
        boolean isGone = kept != null && !isBusy() && kept.isGone(now);
        kept = isGone ? null : kept;
    }

    /** Keeps nothing any more; returns what was kept, for a request about which the line is busy. */
    @Nullable KeptHold takeOut() {
        KeptHold taken = kept;
        kept = null;
        change();
        return taken;
    }

    /** Begins to release what is kept and idle. */
    void leave() {
        leaving = takeOut();
    }

    /** Whether it pays to keep a hold that nobody here waits for. */
    boolean pays(long now) {
        return history.keeps(now);
    }

    /** Whether a hold may be left to those who wait here; not while it is in the way of a promotion. */
    boolean mayPassOn(KeptHold used, long now) {
        return !closing.get() && !isPromoting && used.mayPassOn(now);
    }

    /** Whether what is kept is to be released as soon as it is idle. */
    boolean isDue() {
        return kept != null && (kept.isRecalled() || closing.get());
    }

    /** Somebody else asks for the resource. Returns whether that is news about what is kept. */
    boolean recall(KeptHold recalled, long now) {
        if (kept != recalled || recalled.isRecalled()) {
            return false;
        }
        recalled.recall(now);
        history.recalled(recalled, now);
        return true;
    }

    boolean isForgettable(long now) {
        return !isBusy() && !isPromoting && kept == null && history.isForgettable(now);
    }
}

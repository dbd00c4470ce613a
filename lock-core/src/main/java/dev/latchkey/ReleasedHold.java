package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * What is given up.
 *
 * @param key what the store has to forget; null if it cannot hold anything
 * @param held what was believed in until now; null if nothing was
 * @param watch of that hold, or of the one that was lost; null if there was none
 * @param loss why the hold had ended before; null if it had not
 * @param told who knows of that loss
 */
record ReleasedHold(
        @Nullable Key key,
        @Nullable Hold held,
        @Nullable HoldTracker watch,
        @Nullable LossReason loss,
        LossNotice told) {

    boolean wasHeld() {
        return held != null;
    }
}

package dev.latchkey;

import org.jspecify.annotations.Nullable;

/**
 * What is given up.
 *
 * @param key what the store has to forget; null if it cannot hold anything
 * @param held what was believed in until now; null if nothing was
 * @param watch of that hold
 * @param loss why the hold had ended before; null if it had not
 * @param lossThrown whether a call has told the caller of that loss
 */
record Given(
        @Nullable Key key,
        @Nullable Hold held,
        @Nullable Watch watch,
        @Nullable LossReason loss,
        boolean lossThrown) {

    boolean wasHeld() {
        return held != null;
    }
}

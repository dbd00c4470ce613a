package dev.latchkey;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What a transition of the {@link LockState} asks for. Whoever asked for the transition has it run, without a guard. */
sealed interface Effect {

    /** Who has been told that a hold is over. */
    enum Notice {
        NOBODY,
        /** A listener or an interrupt has told it, or {@code isExpired()} or {@code isAcquired()} has shown it. */
        SHOWN,
        /** A call has failed because of it. */
        THROWN
    }

    /**
     * What a transition came to.
     *
     * @param noticed a hold that was found to be over first; null if none was
     * @param effect what the transition itself asks for; null for nothing
     */
    record Step<T extends @Nullable Object>(
            T result, @Nullable Loss noticed, @Nullable Effect effect) {

        static <T extends @Nullable Object> Step<T> of(T result) {
            return new Step<>(result, null, null);
        }

        static <T extends @Nullable Object> Step<T> of(T result, @Nullable Effect effect) {
            return new Step<>(result, null, effect);
        }
    }

    /** A hold begins, or goes on as the store has answered. */
    record Watch(HoldTracker tracker, Hold hold) implements Effect {}

    /** The end of a hold has moved, or somebody else wants to hear of it. */
    record SetAlarm(HoldTracker tracker) implements Effect {}

    /**
     * A hold has ended without a release, and these want to know.
     *
     * @param finder whose own call has found it, and tells it; null if no call has
     */
    record Loss(
            LossReason reason,
            @Nullable HoldTracker tracker,
            List<Consumer<? super LossReason>> listeners,
            @Nullable Thread finder)
            implements Effect {}

    /**
     * What is held, or may be, is given up.
     *
     * @param key what the store has to forget; null if it cannot hold anything
     * @param held what was believed in until now; null if nothing was
     * @param tracker of that hold, or of the one that was lost; null if there was none
     * @param loss why the hold had ended before; null if it had not
     * @param notice who knows of that loss
     */
    record ReleasedHold(
            @Nullable Key key,
            @Nullable Hold held,
            @Nullable HoldTracker tracker,
            @Nullable LossReason loss,
            Notice notice)
            implements Effect {}
}

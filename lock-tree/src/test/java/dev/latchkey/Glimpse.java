package dev.latchkey;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a Lock believes, for who judges it: looking changes nothing. */
public final class Glimpse {

    private final LockState state;

    private Glimpse(LockState state) {
        this.state = state;
    }

    /**
     * Looks at a Lock.
     *
     * @param lock of the public API
     * @return what it believes, now and later
     */
    public static Glimpse of(Lock lock) {
        try {
            var field = Lock.class.getDeclaredField("engine");
            field.setAccessible(true);
            return new Glimpse(((LockEngine) field.get(lock)).state());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Tells one hold from another.
     *
     * @return one object for each hold; null if there is none
     */
    public @Nullable Object hold() {
        return state.tracker().orElse(null);
    }

    /**
     * Returns when the hold ends, also if that is over.
     *
     * @return a moment of the monotonic clock
     */
    public long end() {
        Deadline deadline = state.tracker().map(state::deadlineOf).orElse(null);
        return deadline == null ? Long.MAX_VALUE : deadline.nanoTime();
    }

    /**
     * Tells whether it believes to hold.
     *
     * @return whether something is held that is not over
     */
    public boolean isHeld() {
        return state.hold().isPresent();
    }

    /**
     * Returns how it is held.
     *
     * @return the mode
     */
    public LockMode mode() {
        return state.hold().map(Hold::mode).orElse(LockMode.SHARED);
    }

    /**
     * Returns the fencing token.
     *
     * @return empty unless it is held exclusively
     */
    public OptionalLong fencingToken() {
        return state.hold().map(Hold::fencingToken).orElse(OptionalLong.empty());
    }

    /**
     * Returns the key, without counting it as copied.
     *
     * @return the key with what it claims
     */
    public Key key() {
        return state.key();
    }

    /**
     * Returns why the last hold was lost.
     *
     * @return null if it was not
     */
    public @Nullable LossReason loss() {
        return state.lastLoss().reason().orElse(null);
    }
}

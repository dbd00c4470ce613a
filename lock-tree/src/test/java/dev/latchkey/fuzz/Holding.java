package dev.latchkey.fuzz;

import dev.latchkey.LossReason;
import org.jspecify.annotations.Nullable;

/** One hold of a {@link Subject} from its grant to its end, and who was told of its end. */
final class Holding {

    enum End {
        NOT_ENDED,
        GIVEN_UP,
        LOST
    }

    private final Object identity;
    private final int begun;
    private final String token;
    private End end = End.NOT_ENDED;
    private int endedAt;
    private @Nullable LossReason reason;
    private int heard;
    private boolean thrown;
    private boolean shown;
    private boolean forgotten;
    private @Nullable Fiber worker;

    Holding(Object identity, int begun, String token) {
        this.identity = identity;
        this.begun = begun;
        this.token = token;
    }

    boolean is(@Nullable Object other) {
        return identity == other;
    }

    int begun() {
        return begun;
    }

    String token() {
        return token;
    }

    void givenUp(int at) {
        end = End.GIVEN_UP;
        endedAt = at;
    }

    void lost(int at, LossReason why) {
        end = End.LOST;
        endedAt = at;
        reason = why;
    }

    boolean isLost() {
        return end == End.LOST;
    }

    /** A thread works under it, which is interrupted when it is lost. */
    void hasWorker(Fiber fiber) {
        worker = fiber;
    }

    /** Whether who has found the loss has the worker interrupted: not the worker, whose call tells it. */
    boolean interrupts(@Nullable Fiber finder) {
        return worker != null && worker != finder;
    }

    boolean isLostBefore(int step) {
        return isLost() && endedAt < step;
    }

    boolean isGivenUp() {
        return end == End.GIVEN_UP;
    }

    /** The Lock was made free: nothing is left to be told. */
    void isForgotten() {
        forgotten = true;
    }

    boolean wasForgotten() {
        return forgotten;
    }

    boolean endedSince(int step) {
        return end != End.NOT_ENDED && endedAt >= step;
    }

    @Nullable LossReason reason() {
        return reason;
    }

    int hear() {
        return ++heard;
    }

    boolean isHeard() {
        return heard > 0;
    }

    void isThrown() {
        thrown = true;
    }

    boolean wasThrown() {
        return thrown;
    }

    void isShown() {
        shown = true;
    }

    boolean isToldAtAll() {
        return thrown || shown || heard > 0;
    }
}

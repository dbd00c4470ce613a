package dev.latchkey.spi;

import java.util.function.Supplier;

/** What came of one request among several: one that fails fails alone. */
public sealed interface Outcome {

    /**
     * The store answered.
     *
     * @param attempt its answer
     */
    record Answered(Attempt attempt) implements Outcome {}

    /**
     * The store failed, or did not answer, for this request.
     *
     * @param failure what it would have thrown for this request alone
     */
    record Failed(RuntimeException failure) implements Outcome {}

    /**
     * Asks, and catches the failure.
     *
     * @param ask one call of a store
     * @return its answer or failure
     */
    static Outcome of(Supplier<? extends Attempt> ask) {
        try {
            return new Answered(ask.get());
        } catch (RuntimeException e) {
            return new Failed(e);
        }
    }
}

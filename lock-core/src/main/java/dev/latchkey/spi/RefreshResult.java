package dev.latchkey.spi;

import java.util.function.Supplier;

/** What came of one request among several: one that fails fails alone. */
public sealed interface RefreshResult {

    /**
     * The store answered.
     *
     * @param response its answer
     */
    record Answered(Response response) implements RefreshResult {}

    /**
     * The store failed, or did not answer, for this request.
     *
     * @param failure what it would have thrown for this request alone
     */
    record Failed(RuntimeException failure) implements RefreshResult {}

    /**
     * Asks, and catches the failure.
     *
     * @param ask one call of a store
     * @return its answer or failure
     */
    static RefreshResult of(Supplier<? extends Response> ask) {
        try {
            return new Answered(ask.get());
        } catch (RuntimeException e) {
            return new Failed(e);
        }
    }
}

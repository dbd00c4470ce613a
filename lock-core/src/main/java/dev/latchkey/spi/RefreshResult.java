package dev.latchkey.spi;

import java.util.function.Supplier;

/** The result of one refresh among several. A failure belongs to a single request. */
public sealed interface RefreshResult {

    /**
     * The store answered.
     *
     * @param response the answer
     */
    record Answered(Response response) implements RefreshResult {}

    /**
     * The store failed or did not answer for this request.
     *
     * @param failure what a single request would have thrown
     */
    record Failed(RuntimeException failure) implements RefreshResult {}

    /**
     * Calls a store and catches its failure.
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

package dev.latchkey.benchmarks;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the contenders of a table connect to.
 *
 * @param address in the words of the contest
 * @param software what runs there, with its version; empty if nothing does
 * @param requests how many the servers have served so far; null where they do not count them
 * @param closing ends them
 */
record Servers(String address, String software, @Nullable LongSupplier requests, Runnable closing)
        implements AutoCloseable {

    /** For contenders that need no server. */
    static Servers none(String address, Runnable closing) {
        return new Servers(address, "", null, closing);
    }

    @Override
    public void close() {
        closing.run();
    }
}

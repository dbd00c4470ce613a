package dev.latchkey.combined;

/**
 * Requires all members: the store is as safe as the safest of them, and as available as the least available one.
 * Immutable.
 */
public final class UnanimousStrategy implements Strategy {

    /** Creates a strategy. All instances behave alike. */
    public UnanimousStrategy() {}

    @Override
    public boolean isMet(int successes, int total) {
        return successes == total;
    }

    @Override
    public boolean canBeMet(int failures, int total) {
        return failures == 0;
    }
}

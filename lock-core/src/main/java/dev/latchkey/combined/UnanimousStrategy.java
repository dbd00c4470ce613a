package dev.latchkey.combined;

/** All members: as safe as the safest of them, and as available as the least. Immutable. */
public final class UnanimousStrategy implements Strategy {

    /** Makes a strategy; all of them are alike. */
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

package dev.latchkey.combined;

/** Requires more than half of the members, so the store works while fewer than half of them fail. Immutable. */
public final class ConsensusStrategy implements Strategy {

    /** Creates a strategy. All instances behave alike. */
    public ConsensusStrategy() {}

    @Override
    public boolean isMet(int successes, int total) {
        return 2 * successes > total;
    }

    @Override
    public boolean canBeMet(int failures, int total) {
        return 2 * failures < total;
    }
}

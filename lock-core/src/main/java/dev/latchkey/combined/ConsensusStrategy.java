package dev.latchkey.combined;

/** More than half of the members: goes on when fewer than half of them fail. Immutable. */
public final class ConsensusStrategy implements Strategy {

    /** Makes a strategy; all of them are alike. */
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

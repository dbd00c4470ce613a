package dev.latchkey.combined;

/**
 * How many members of a {@link CombinedStore} must agree. Two sets of members that are enough must always have one in
 * common, else two keys could hold at once; a store refuses a strategy with which they need not.
 */
public interface Strategy {

    /**
     * Tells whether this many are enough.
     *
     * @param successes members that agreed
     * @param total all members
     * @return true if it is; then also for more of them
     */
    boolean isMet(int successes, int total);

    /**
     * Tells whether there can still be enough.
     *
     * @param failures members that refused or failed
     * @param total all members
     * @return false if all others together would not be enough
     */
    boolean canBeMet(int failures, int total);
}

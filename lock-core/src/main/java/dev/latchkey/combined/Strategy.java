package dev.latchkey.combined;

/**
 * Decides how many members of a {@link CombinedStore} must agree. Any two sets of members that are enough must have a
 * member in common; otherwise two keys could hold a lock at once. {@link CombinedStore} refuses a strategy that violates
 * this.
 */
public interface Strategy {

    /**
     * Returns whether this many members are enough.
     *
     * @param successes how many members agreed
     * @param total the number of all members
     * @return true if they are enough; then also true for more of them
     */
    boolean isMet(int successes, int total);

    /**
     * Returns whether there can still be enough.
     *
     * @param failures how many members refused or failed
     * @param total the number of all members
     * @return false if all other members together would not be enough
     */
    boolean canBeMet(int failures, int total);
}

package dev.latchkey.spi;

/**
 * The numbers of the last changes of one resource. The application numbers the changes.
 *
 * @param exclusive the number of the last change by an exclusive holder; zero for none
 * @param shared the number of the last change by a shared holder, which then changed something below the resource; zero
 *     for none
 */
public record StateIndex(long exclusive, long shared) {

    /** The index of a resource that was never changed. */
    public static final StateIndex NONE = new StateIndex(0, 0);

    /** The largest number that all stores keep exactly: 2 to the power of 53, minus one. */
    public static final long MAX = (1L << 53) - 1;

    /**
     * Checks the range.
     *
     * @param exclusive from 0 to {@link #MAX}
     * @param shared from 0 to {@link #MAX}
     * @throws IllegalArgumentException if a number is negative or greater than {@link #MAX}
     */
    public StateIndex {
        if (exclusive < 0 || shared < 0 || exclusive > MAX || shared > MAX) {
            throw new IllegalArgumentException(
                    "state index (" + exclusive + ", " + shared + "): must be from 0 to " + MAX);
        }
    }

    /**
     * Returns the greater of each number.
     *
     * @param other an index of the same resource
     * @return the index after both changes
     */
    public StateIndex raisedTo(StateIndex other) {
        return new StateIndex(Math.max(exclusive, other.exclusive), Math.max(shared, other.shared));
    }
}

package dev.latchkey.spi;

/**
 * The last changes of one resource, numbered by whoever numbers changes.
 *
 * @param exclusive the number of the last change by somebody who held it exclusively; zero: none
 * @param shared the number of the last change by somebody who held it shared, who then changed something below it; zero:
 *     none
 */
public record StateIndex(long exclusive, long shared) {

    /** Of what was never changed. */
    public static final StateIndex NONE = new StateIndex(0, 0);

    /** The largest number all stores keep exactly: 2 to the power of 53, less one. */
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
     * @param other of the same resource
     * @return what is remembered when both happened
     */
    public StateIndex raisedTo(StateIndex other) {
        return new StateIndex(Math.max(exclusive, other.exclusive), Math.max(shared, other.shared));
    }
}

package dev.latchkey.spi;

/** What the fencing tokens of a store survive, so that they go on growing. */
public enum Durability {
    /** Whatever may happen to a store that can be asked again: the last token is never forgotten. */
    EVERYTHING,
    /**
     * The store may forget the last token; the next is greater all the same, as long as its clock is not set back. Tokens are
     * the microseconds since 1970, or more where a token was greater already.
     */
    BY_THE_CLOCK,
    /** A store that has lost its data begins anew: its tokens prove nothing to a quorum. */
    NOTHING
}

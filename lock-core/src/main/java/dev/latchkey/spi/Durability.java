package dev.latchkey.spi;

/** What the fencing tokens of a store survive, so that they keep growing. */
public enum Durability {
    /** Whatever happens to a store that can still be asked, it never forgets the last token. */
    EVERYTHING,
    /**
     * The store may forget the last token, but the next one is greater as long as the store's clock is not set back.
     * Tokens are the microseconds since 1970, or more if an earlier token was greater already.
     */
    BY_THE_CLOCK,
    /** A store that has lost its data starts again: its tokens prove nothing to a quorum. */
    NOTHING
}

package dev.latchkey.spi;

/** What a request may do to the lease of a hold that is there already. A new hold always has the TTL asked for. */
public enum LeaseChange {
    /**
     * The lease ends at the later of its present end and the TTL from now: a request that is late, repeated or overtaken never
     * ends a hold sooner than its holder believes.
     */
    EXTEND,
    /** The lease ends at the TTL from now, sooner or later than before. The holder believes the sooner end from the request on. */
    SET
}

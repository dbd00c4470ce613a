package dev.latchkey.spi;

/** What a request may do to the lease of an existing hold. A new hold always has the requested TTL. */
public enum LeaseChange {
    /**
     * The lease ends at its present end, or at the TTL from now if that is later. A request that is late, repeated or
     * overtaken never ends a hold sooner than its holder believes.
     */
    EXTEND,
    /**
     * The lease ends at the TTL from now, sooner or later than before. The holder believes in an earlier end from the
     * moment of the request.
     */
    SET
}

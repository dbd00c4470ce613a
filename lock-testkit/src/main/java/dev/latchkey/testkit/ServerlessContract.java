package dev.latchkey.testkit;

/**
 * No server and no network stands between a holder and what keeps its hold, so that nothing ends it but its process and its
 * store: says what a {@link dev.latchkey.spi.ProcessBound} store joins in place of {@link SessionLossContract}.
 */
public interface ServerlessContract extends ClosedStoreContract {}

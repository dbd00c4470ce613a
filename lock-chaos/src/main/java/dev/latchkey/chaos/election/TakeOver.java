package dev.latchkey.chaos.election;

/**
 * From the begin of a fault to the next term.
 *
 * @param fault what was done to the leader
 * @param nanos how long it took
 */
record TakeOver(ElectionFault fault, long nanos) {}

package dev.latchkey.cli;

import java.time.Duration;

/**
 * The rules for supervising a child.
 *
 * @param killAfter how long it may take to end after TERM
 * @param minHold how long the lock is kept at least, though the child ended sooner
 * @param maxHold how long the child may run
 */
record RunRules(Duration killAfter, OnLost onLost, Duration minHold, Duration maxHold) {}

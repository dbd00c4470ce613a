package dev.latchkey;

/** The mode in which a lock is held. */
public enum LockMode {
    /** Several holders at once, none of them exclusive. */
    SHARED,
    /** A single holder. */
    EXCLUSIVE
}

package dev.latchkey;

/** How a resource is held. */
public enum LockMode {
    /** Many holders at once, none of them exclusive. */
    SHARED,
    /** One holder. */
    EXCLUSIVE
}

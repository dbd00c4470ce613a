package dev.latchkey.documents;

/** How a document is loaded. */
public enum DocumentLockMode {
    /** Without a lock; refused while somebody has the document locked for writing. */
    NONE,
    /** As {@link #NONE}, and refused if the document has no version: what is written will be checked against it. */
    OPTIMISTIC,
    /** With a lock that others can have too, and that keeps others from writing. */
    PESSIMISTIC_READ,
    /** With a lock that keeps others from loading with any mode, and from writing. */
    PESSIMISTIC_WRITE
}

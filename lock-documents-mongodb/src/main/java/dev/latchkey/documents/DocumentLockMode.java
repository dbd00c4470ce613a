package dev.latchkey.documents;

/** The mode in which a document is loaded. */
public enum DocumentLockMode {
    /** Loads without a lock. Refused while somebody else has locked the document for writing. */
    NONE,
    /**
     * Loads without a lock, and requires that the document has a version, against which writes are checked. Refused while
     * somebody else has locked the document for writing.
     */
    OPTIMISTIC,
    /** Loads with a shared lock, which prevents others from writing. */
    PESSIMISTIC_READ,
    /** Loads with an exclusive lock, which prevents others from writing and from loading in any mode. */
    PESSIMISTIC_WRITE
}

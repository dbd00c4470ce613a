package dev.latchkey.jdbc;

/** What a release waits for. */
enum ReleaseCommit {
    /** For the database to have it in memory, where it writes it to the disk before any later hold. */
    ASYNCHRONOUS,
    /** For the disk, and for synchronous replicas. */
    DURABLE
}

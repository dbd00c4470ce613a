/**
 * Concurrency control for MongoDB documents: {@link dev.latchkey.documents.VersionedCollection} detects concurrent
 * changes, and repeats or merges them.
 */
@NullMarked
package dev.latchkey.documents;

import org.jspecify.annotations.NullMarked;

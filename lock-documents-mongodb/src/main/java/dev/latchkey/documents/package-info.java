/**
 * Control of concurrent changes to MongoDB documents: {@link dev.latchkey.documents.VersionedCollection} finds out that
 * somebody else was faster, repeats or merges.
 */
@NullMarked
package dev.latchkey.documents;

import org.jspecify.annotations.NullMarked;

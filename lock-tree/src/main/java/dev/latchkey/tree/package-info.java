/**
 * Locks on trees: for applications in which many editors change models, documents or folders. An editor's locks are a
 * {@link dev.latchkey.tree.TreeLocks}.
 */
@NullMarked
package dev.latchkey.tree;

import org.jspecify.annotations.NullMarked;

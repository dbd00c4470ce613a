/**
 * Locks on trees, for applications in which many editors change models, documents or folders.
 * {@link dev.latchkey.tree.TreeLocks} are the locks of one editor.
 */
@NullMarked
package dev.latchkey.tree;

import org.jspecify.annotations.NullMarked;

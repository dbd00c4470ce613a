/**
 * Locks on trees, for applications in which many editors change models, documents or folders.
 * {@link dev.latchkey.tree.TreeLocks} are the locks on one tree, {@link dev.latchkey.tree.TreeEditor} is one of its editors.
 */
@NullMarked
package dev.latchkey.tree;

import org.jspecify.annotations.NullMarked;

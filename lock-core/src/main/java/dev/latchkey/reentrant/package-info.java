/**
 * Reentrant locks that belong to a thread, as views of {@code java.util.concurrent.locks}: start with
 * {@link dev.latchkey.reentrant.ReentrantLocks}.
 */
@NullMarked
package dev.latchkey.reentrant;

import org.jspecify.annotations.NullMarked;

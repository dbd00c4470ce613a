/**
 * The API of distributed locks: a {@link dev.latchkey.LockFactory} creates {@link dev.latchkey.Lock}s over a store. A
 * {@link dev.latchkey.Key} can be transferred to another process.
 */
@NullMarked
package dev.latchkey;

import org.jspecify.annotations.NullMarked;

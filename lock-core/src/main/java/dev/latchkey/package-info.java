/**
 * The API: a {@link dev.latchkey.LockFactory} makes {@link dev.latchkey.Lock}s over a store; a {@link dev.latchkey.Key}
 * is what can be handed to another process.
 */
@NullMarked
package dev.latchkey;

import org.jspecify.annotations.NullMarked;

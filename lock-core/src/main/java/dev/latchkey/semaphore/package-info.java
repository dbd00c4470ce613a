/**
 * Counting semaphores whose permits are leases: {@link dev.latchkey.LockFactory#semaphore} creates them, and each
 * {@link dev.latchkey.semaphore.Permit} is a {@link dev.latchkey.Lock} over a store of permits.
 */
@NullMarked
package dev.latchkey.semaphore;

import org.jspecify.annotations.NullMarked;

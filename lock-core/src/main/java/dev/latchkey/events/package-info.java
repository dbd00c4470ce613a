/**
 * Tells {@linkplain dev.latchkey.LockListener listeners} and the JDK Flight Recorder what happens. For the core alone: do
 * not use these classes, which may change at any time.
 */
@NullMarked
package dev.latchkey.events;

import org.jspecify.annotations.NullMarked;

/** A lock store that uses the kernel's file locks. */
@NullMarked
package dev.latchkey.flock;

import org.jspecify.annotations.NullMarked;

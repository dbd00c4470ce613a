/** Stores that need no driver. */
@NullMarked
package dev.latchkey.store;

import org.jspecify.annotations.NullMarked;

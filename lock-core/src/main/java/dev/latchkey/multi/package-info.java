/** Locks of several resources at once, which a {@link dev.latchkey.LockFactory} creates. Nothing here is for applications. */
@NullMarked
package dev.latchkey.multi;

import org.jspecify.annotations.NullMarked;

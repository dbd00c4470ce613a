/** The threads of a {@link dev.latchkey.LockFactory}. Nothing here is for applications. */
@NullMarked
package dev.latchkey.threads;

import org.jspecify.annotations.NullMarked;

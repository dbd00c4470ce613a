/** The screen of {@code lock top}: what is held, as it changes, in a terminal. Only this package knows JLine. */
@NullMarked
package dev.latchkey.cli.top;

import org.jspecify.annotations.NullMarked;

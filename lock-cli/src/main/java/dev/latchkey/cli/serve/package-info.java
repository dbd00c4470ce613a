/** The page of {@code lock serve}: what is held, as it changes, for browsers that listen. */
@NullMarked
package dev.latchkey.cli.serve;

import org.jspecify.annotations.NullMarked;

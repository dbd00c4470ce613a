/** The {@code lock} command: parse the arguments, take the lock, run a child process under it, say what happened. */
@NullMarked
package dev.latchkey.cli;

import org.jspecify.annotations.NullMarked;

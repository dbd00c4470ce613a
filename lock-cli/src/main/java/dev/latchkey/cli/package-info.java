/** The {@code lock} command: parses the arguments, acquires the lock, runs a child process under it, and reports the result. */
@NullMarked
package dev.latchkey.cli;

import org.jspecify.annotations.NullMarked;

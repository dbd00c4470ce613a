/** Tests of the command. */
@NullMarked
package dev.latchkey.cli;

import org.jspecify.annotations.NullMarked;

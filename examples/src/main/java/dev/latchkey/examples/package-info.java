/** Programs that use Latchkey. */
@NullMarked
package dev.latchkey.examples;

import org.jspecify.annotations.NullMarked;

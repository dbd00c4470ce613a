/** Runs what the documents show. */
@NullMarked
package dev.latchkey.examples;

import org.jspecify.annotations.NullMarked;

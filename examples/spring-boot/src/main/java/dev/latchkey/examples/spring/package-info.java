/** A shop that several instances run at once. */
@NullMarked
package dev.latchkey.examples.spring;

import org.jspecify.annotations.NullMarked;

/** A package that a store must not have. */
@NullMarked
package dev.latchkey.testkit.planted.deep;

import org.jspecify.annotations.NullMarked;

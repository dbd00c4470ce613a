/** A store that keeps the rules for stores, and types that break one each. */
@NullMarked
package dev.latchkey.testkit.planted;

import org.jspecify.annotations.NullMarked;

/** A store over several others: a hold is granted by a quorum of them, or by all. */
@NullMarked
package dev.latchkey.combined;

import org.jspecify.annotations.NullMarked;

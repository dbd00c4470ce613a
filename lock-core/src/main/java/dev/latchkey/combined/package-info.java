/** A store that combines several other stores: a quorum of them, or all of them, must grant a lock. */
@NullMarked
package dev.latchkey.combined;

import org.jspecify.annotations.NullMarked;

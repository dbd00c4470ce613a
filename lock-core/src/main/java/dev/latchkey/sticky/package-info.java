/** Locks that stay where they are used: a hold of the store is kept between holds of its own. For the core alone. */
@NullMarked
package dev.latchkey.sticky;

import org.jspecify.annotations.NullMarked;

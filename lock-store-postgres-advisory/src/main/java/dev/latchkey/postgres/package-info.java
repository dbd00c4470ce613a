/** A lock store that uses the advisory locks of PostgreSQL. */
@NullMarked
package dev.latchkey.postgres;

import org.jspecify.annotations.NullMarked;

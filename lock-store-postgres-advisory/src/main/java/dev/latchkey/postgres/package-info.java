/** Locks by the advisory locks of PostgreSQL. */
@NullMarked
package dev.latchkey.postgres;

import org.jspecify.annotations.NullMarked;

/** Locks as rows of an SQL database, and guards for transactions of the caller's own. */
@NullMarked
package dev.latchkey.jdbc;

import org.jspecify.annotations.NullMarked;

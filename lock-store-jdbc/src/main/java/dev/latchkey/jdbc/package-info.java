/** A lock store that uses rows of an SQL database, and guards for the caller's own transactions. */
@NullMarked
package dev.latchkey.jdbc;

import org.jspecify.annotations.NullMarked;

/** A lock store that uses the named locks of MariaDB and MySQL. */
@NullMarked
package dev.latchkey.mysql;

import org.jspecify.annotations.NullMarked;

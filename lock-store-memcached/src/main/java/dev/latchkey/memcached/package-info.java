/** A lock store on one Memcached server. */
@NullMarked
package dev.latchkey.memcached;

import org.jspecify.annotations.NullMarked;

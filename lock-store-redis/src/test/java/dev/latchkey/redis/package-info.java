/** Tests of the Redis store, against real servers. */
@NullMarked
package dev.latchkey.redis;

import org.jspecify.annotations.NullMarked;

/** Locks on a Redis or Valkey server. */
@NullMarked
package dev.latchkey.redis;

import org.jspecify.annotations.NullMarked;

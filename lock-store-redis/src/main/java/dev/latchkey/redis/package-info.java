/** A lock store on a Redis or Valkey server. */
@NullMarked
package dev.latchkey.redis;

import org.jspecify.annotations.NullMarked;

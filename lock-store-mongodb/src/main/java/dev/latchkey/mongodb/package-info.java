/** A lock store that uses documents of a MongoDB collection. */
@NullMarked
package dev.latchkey.mongodb;

import org.jspecify.annotations.NullMarked;

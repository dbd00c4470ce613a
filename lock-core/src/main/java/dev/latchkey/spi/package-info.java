/**
 * What a store implements. A store is {@link dev.latchkey.spi.PersistingStore} and, for each thing its backend can do
 * beyond that, one more interface of this package.
 */
@NullMarked
package dev.latchkey.spi;

import org.jspecify.annotations.NullMarked;

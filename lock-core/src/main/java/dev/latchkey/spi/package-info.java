/**
 * The interfaces that a store implements: {@link dev.latchkey.spi.PersistingStore}, and one more interface for each
 * further capability of its backend.
 */
@NullMarked
package dev.latchkey.spi;

import org.jspecify.annotations.NullMarked;

/**
 * What a store is tested with: contracts, and helpers that make things go wrong.
 *
 * <p>A contract is an interface of default {@code @Test} methods, one per capability of a store. The test class of a store
 * joins by implementing {@link dev.latchkey.testkit.PersistingStoreContract} and one contract more for each thing the
 * store can do; {@link dev.latchkey.testkit.StoreRules} tells which are missing. {@link dev.latchkey.testkit.StoreContract}
 * shows the whole of such a class.
 */
@NullMarked
package dev.latchkey.testkit;

import org.jspecify.annotations.NullMarked;

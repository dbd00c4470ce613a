/**
 * Processes that take locks while servers, networks and the processes themselves fail, and a judge of what came of it.
 *
 * <p>{@link dev.latchkey.chaos.Main} runs {@code Trial}s. In each, {@code Worker}s take the locks of a {@code StoreUnderTest} and
 * use them at a {@code Register}, {@code Faults} strike, everybody writes an {@code EventLog}, and the {@code Checker} judges
 * the {@code History} by the {@code Guarantees} of the store.
 */
@NullMarked
package dev.latchkey.chaos;

import org.jspecify.annotations.NullMarked;

package dev.latchkey.spring;

import java.util.function.Supplier;

/**
 * A client of the application that locks can be kept with.
 *
 * @param name for {@code latchkey.store}
 * @param description for people
 * @param open makes the store; called once, when the first lock is made
 */
record StoreSource(String name, String description, Supplier<OpenStore> open) {}

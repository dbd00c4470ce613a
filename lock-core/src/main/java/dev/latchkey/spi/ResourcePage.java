package dev.latchkey.spi;

import java.util.List;
import java.util.Optional;

/**
 * A part of a list of resources.
 *
 * @param resources the resources that are held, in the order of the store
 * @param next what to pass as {@code after} to get the following page; empty if this is the last one. A page may have
 *     fewer resources than asked for, and still not be the last one
 */
public record ResourcePage(List<ListedResource> resources, Optional<String> next) {}

/** The shop, in several processes. */
@NullMarked
package dev.latchkey.examples.spring;

import org.jspecify.annotations.NullMarked;

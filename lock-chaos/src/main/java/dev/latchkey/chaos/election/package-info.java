/** {@code ./chaos election}: processes stand for election while everything around them fails. */
@NullMarked
package dev.latchkey.chaos.election;

import org.jspecify.annotations.NullMarked;

/** Metrics of locks by Micrometer. */
@NullMarked
package dev.latchkey.micrometer;

import org.jspecify.annotations.NullMarked;

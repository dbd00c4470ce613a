/** Cycles of acquire and release, side by side with what a program would use without Latchkey. */
@NullMarked
package dev.latchkey.benchmarks;

import org.jspecify.annotations.NullMarked;

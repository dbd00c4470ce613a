@NullMarked
package dev.latchkey.benchmarks;

import org.jspecify.annotations.NullMarked;

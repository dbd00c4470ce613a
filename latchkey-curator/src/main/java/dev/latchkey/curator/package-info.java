/** Locks of <a href="https://curator.apache.org">Apache Curator</a> in the stores of Latchkey. */
@NullMarked
package dev.latchkey.curator;

import org.jspecify.annotations.NullMarked;

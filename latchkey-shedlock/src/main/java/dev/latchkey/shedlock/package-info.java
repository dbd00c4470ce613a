/** Locks of <a href="https://github.com/lukas-krecan/ShedLock">ShedLock</a> in the stores of Latchkey. */
@NullMarked
package dev.latchkey.shedlock;

import org.jspecify.annotations.NullMarked;

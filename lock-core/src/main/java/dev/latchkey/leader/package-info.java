/** Leader election over any store: start with {@link dev.latchkey.leader.LeaderElection}. */
@NullMarked
package dev.latchkey.leader;

import org.jspecify.annotations.NullMarked;

/** A lock store that uses ephemeral nodes of ZooKeeper. */
@NullMarked
package dev.latchkey.zookeeper;

import org.jspecify.annotations.NullMarked;

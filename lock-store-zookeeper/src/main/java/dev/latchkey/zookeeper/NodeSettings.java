package dev.latchkey.zookeeper;

import java.util.List;
import org.apache.zookeeper.data.ACL;

/**
 * How nodes are created.
 *
 * @param paths their paths
 * @param acl who may use them
 */
record NodeSettings(Paths paths, List<ACL> acl) {}

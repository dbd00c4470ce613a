package dev.latchkey.zookeeper;

import java.util.List;
import org.apache.zookeeper.data.ACL;

/**
 * How nodes are made.
 *
 * @param paths where
 * @param acl who may use them
 */
record NodeSettings(Paths paths, List<ACL> acl) {}

package dev.latchkey.redis;

import dev.latchkey.servers.RedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A test class with a cluster of its own. */
abstract class OnACluster {

    static RedisCluster cluster;

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.start();
    }

    @AfterAll
    static void endCluster() {
        cluster.close();
    }
}

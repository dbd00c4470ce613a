package dev.latchkey.redis;

import dev.latchkey.servers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A test class with a server of its own, which is empty when a test begins. */
abstract class OnOneServer {

    static RedisServer server;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.call("FLUSHALL");
    }

    static RedisStore open(String dsn) {
        return (RedisStore) new RedisStore.Provider().open(dsn);
    }
}

package dev.latchkey.redis;

import dev.latchkey.servers.RedisServer;
import java.nio.charset.StandardCharsets;
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

    /** What a request has in it that runs a script which the server knows: no other request of a store does. */
    static String requestOf(Script script) {
        return new String(script.digest(), StandardCharsets.US_ASCII);
    }

    static RedisStore open(String dsn) {
        return (RedisStore) new RedisStore.Provider().open(dsn);
    }
}

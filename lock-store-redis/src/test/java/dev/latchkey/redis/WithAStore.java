package dev.latchkey.redis;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test class with a server of its own, and a new store for each test. */
abstract class WithAStore extends OnOneServer {

    RedisStore store;
    LockFactory locks;
    RedisKeys keys;

    @BeforeEach
    void openStore() {
        store = open(PatientDsn.redis(server.dsn()));
        locks = new LockFactory(store);
        keys = new RedisKeys(server);
    }

    @AfterEach
    void closeStore() {
        locks.close();
        store.close();
    }
}

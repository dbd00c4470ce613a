package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A client whose connections go through a proxy, and rivals who have none in between. */
abstract class BehindAProxy extends OnOneServer {

    static final Duration LONG_TTL = Fixture.LONG_TTL;
    static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofMillis(1_500));

    /** Of what has to be held still when something goes wrong, also if the machine stands still before that. */
    static final Duration HELD_TTL = TimeLimits.ttl(Duration.ofSeconds(5));

    static final String RESOURCE = "report";
    static final String STATE = "lock:{" + RESOURCE + "}";
    static final String CHANNEL = "lock:in:";

    FaultProxy proxy;
    LockFactory locks;
    LockFactory rivals;

    @BeforeEach
    void connect() {
        proxy = FaultProxy.to(server.address());
        locks = LockFactory.connect(PatientDsn.redis("redis://" + proxy.address()));
        rivals = LockFactory.connect(PatientDsn.redis(server.dsn()));
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void end() {
        proxy.heal();
        locks.close();
        rivals.close();
        proxy.close();
    }

    Lock held(Duration ttl) {
        Lock lock = locks.createLock(RESOURCE, ttl);
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }

    BackgroundCall<Lock> startWaiter(LockFactory from) {
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> from.createLock(RESOURCE, LONG_TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.listening().size() == 1);
        return waiting;
    }

    void checkAftermath(long lastToken) throws InterruptedException {
        checkAftermath(lastToken, SHORT_TTL);
    }

    void checkAftermath(long lastToken, Duration longestTtl) throws InterruptedException {
        // Only locks of this resource count.
        server.call("DEL", "lock:{warm-up}");
        new Aftermath(server, RESOURCE).check(lastToken, longestTtl);
    }
}

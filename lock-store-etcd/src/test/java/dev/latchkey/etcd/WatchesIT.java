package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of watches when the store moves on to another server. */
class WatchesIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final KeyRange ONE = KeyRange.below("latchkey/one/");
    private static final KeyRange OTHER = KeyRange.below("latchkey/other/");

    private EtcdServer server;
    private Calls calls;
    private Watches watches;

    @BeforeEach
    void start() {
        server = EtcdServer.start();
        calls = new Calls(Dsn.parse(server.dsn()).endpoints(), Duration.ofSeconds(5));
        watches = new Watches(calls);
    }

    @AfterEach
    void stop() {
        watches.close();
        calls.close();
        server.close();
    }

    private void awaitWatchers(long count) {
        Awaitility.await("watchers").atMost(LIMIT).until(() -> server.watchers() == count);
    }

    /** Each stream numbers its watches from zero on. */
    @Test
    void givenAnotherStream_whenAWatchOfTheFirstIsStopped_thenTheOthersGoOn() throws Exception {
        Watches.Watch first = watches.start("one", ONE, 0);
        awaitWatchers(1);
        calls.moveOn(calls.server());
        Watches.Watch second = watches.start("other", OTHER, 0);
        Awaitility.await().atMost(LIMIT).until(second::isNumbered);

        watches.stop(first);
        // Served after whatever the stop has sent.
        Watches.Watch third = watches.start("one", ONE, 0);
        Awaitility.await().atMost(LIMIT).until(third::isNumbered);
        acquireAndRelease("other");

        assertThat(second.done().get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("told of a deletion")
                .isTrue();
    }

    private void acquireAndRelease(String resource) {
        try (LockFactory locks = LockFactory.connect(server.dsn())) {
            Lock lock = locks.createLock(resource, Duration.ofMinutes(5));
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    /** All waiters of the store, and its end, would wait for an answer that one of them waits for. */
    @Test
    void givenTheServerIsSilent_whenOneWaitsForAPassword_thenNobodyElseWaitsForThat() throws Exception {
        try (FaultProxy network = FaultProxy.to(server.address())) {
            network.silence();
            Calls silent = new Calls(
                    Dsn.parse("etcd://orders:secret@" + network.address()).endpoints(), Duration.ofHours(1));
            Watches slow = new Watches(silent);
            BackgroundCall<Watches.Watch> first = BackgroundCall.start(() -> slow.start("one", ONE, 0));
            first.awaitWaiting();

            BackgroundCall<Boolean> closing = BackgroundCall.start(() -> {
                slow.close();
                return true;
            });

            assertThat(closing.result()).isTrue();
            assertThat(first.isDone()).isFalse();
            silent.close();
        }
    }

    @Test
    void givenMovedOnAgainAndAgain_whenWatched_thenTheServerKeepsTheLastWatchAlone() {
        for (int i = 0; i < 10; i++) {
            Watches.Watch watch = watches.start("one", ONE, 0);
            Awaitility.await().atMost(LIMIT).until(watch::isNumbered);
            calls.moveOn(calls.server());
        }

        Watches.Watch last = watches.start("one", ONE, 0);

        Awaitility.await().atMost(LIMIT).until(last::isNumbered);
        awaitWatchers(1);
    }
}

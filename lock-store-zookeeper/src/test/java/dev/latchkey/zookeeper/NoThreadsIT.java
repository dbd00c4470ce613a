package dev.latchkey.zookeeper;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.spi.Lease;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process that can make no more threads for a while: the JVM says so by an error where one is started. */
class NoThreadsIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final AtomicBoolean refused = new AtomicBoolean(true);
    private ZooKeeperServer server;
    private Nodes nodes;
    private ZooKeeper client;
    private Heartbeat pulse;
    private Acquirer taking;

    @BeforeEach
    void open() throws Exception {
        server = ZooKeeperServer.start("maxSessionTimeout=60000");
        nodes = Nodes.of(server.dsn());
        client = Nodes.connect(server.address().toString(), 20_000);
        Paths paths = new Paths(ZooKeeperStore.DEFAULT_ROOT);
        Sessions sessions = new Sessions(Clients.Lent.of(client), new NodeSettings(paths, ZooDefs.Ids.OPEN_ACL_UNSAFE));
        pulse = new Heartbeat(sessions, this::thread);
        taking = new Acquirer(sessions, paths, new Holds(), pulse);
    }

    @AfterEach
    void close() throws Exception {
        pulse.close();
        client.close();
        nodes.close();
        server.close();
    }

    private Thread thread(Runnable task) {
        Thread thread = new Thread(task, "pulse") {
            @Override
            public synchronized void start() {
                if (refused.get()) {
                    throw new OutOfMemoryError("unable to create native thread (planted)");
                }
                super.start();
            }
        };
        thread.setDaemon(true);
        return thread;
    }

    /** Its node stayed, so that nobody could have it; and no thread was tried again, so that no loss was told any more. */
    @Test
    void givenNoThread_whenTaken_thenItFailsAndLeavesNothingAndTheNextIsToldOfALoss() throws Exception {
        assertThatThrownBy(() -> taking.take(exclusive(Key.of("report"))))
                .isInstanceOf(LockStorageException.class)
                .hasRootCauseInstanceOf(OutOfMemoryError.class);
        awaitLine(0);
        refused.set(false);

        Lease lease = granted(taking.take(exclusive(Key.of("report")))).lease();
        client.close();

        CompletableFuture<LossReason> told = lease.lost().orElseThrow().toCompletableFuture();
        assertThat(told.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.SESSION_LOST);
    }

    /** Its node stayed in line, and whoever came after it, wherever that ran, waited for nobody. */
    @Test
    void givenHeldAndNoThread_whenAnotherWaits_thenItFailsAndIsInLineNoMore() throws Exception {
        try (ZooKeeperStore elsewhere = Stores.open(server.dsn())) {
            granted(elsewhere.save(exclusive(Key.of("report"))));

            assertThatThrownBy(() -> taking.await(
                            exclusive(Key.of("report")),
                            System.nanoTime() + LIMIT.toNanos(),
                            new CompletableFuture<>()))
                    .isInstanceOf(LockStorageException.class)
                    .hasRootCauseInstanceOf(OutOfMemoryError.class);

            awaitLine(1);
        }
    }

    private void awaitLine(int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("report")).hasSize(length));
    }
}

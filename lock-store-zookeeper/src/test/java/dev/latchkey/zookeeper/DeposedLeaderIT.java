package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Three servers whose followers lose their leader and elect another one, while the leader has not noticed: what needs no
 * quorum it goes on answering, a {@code sync} as well.
 */
class DeposedLeaderIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** How long a server bears to hear nothing, so the one that is deposed too. */
    private static final String PATIENT = "syncLimit=" + LIMIT.multipliedBy(2).dividedBy(ZooKeeperServer.TICK);

    private final List<ZooKeeperServer> servers = new ArrayList<>();
    private final List<ServerAddress> quorumPorts =
            List.of(ServerAddress.unused(), ServerAddress.unused(), ServerAddress.unused());
    private final List<ServerAddress> electionPorts =
            List.of(ServerAddress.unused(), ServerAddress.unused(), ServerAddress.unused());

    /** Between the followers and the third server, which is elected first, as it has the greatest number. */
    private HalfOpenProxy proxy;

    @BeforeEach
    void open() throws Exception {
        proxy = HalfOpenProxy.to(quorumPorts.get(2));
    }

    @AfterEach
    void stop() throws Exception {
        proxy.close();
        servers.forEach(ZooKeeperServer::close);
    }

    private ZooKeeperServer start(int id) {
        List<String> settings =
                new ArrayList<>(List.of("initLimit=50", "maxSessionTimeout=60000", PATIENT, "myid=" + id));
        for (int other = 1; other <= 3; other++) {
            int port = id != 3 && other == 3
                    ? proxy.port()
                    : quorumPorts.get(other - 1).port();
            settings.add("server." + other + "=127.0.0.1:" + port + ":"
                    + electionPorts.get(other - 1).port());
        }
        ZooKeeperServer server = ZooKeeperServer.startWithoutWaiting(settings);
        servers.add(server);
        return server;
    }

    private static void await(ZooKeeperServer server, String mode) {
        Awaitility.await()
                .atMost(LIMIT)
                // Servers that elect a leader answer nobody.
                .ignoreException(UncheckedIOException.class)
                .until(() -> server.command("srvr").contains("Mode: " + mode));
    }

    /** A22. */
    @Test
    void givenHeldBehindADeposedLeader_whenTheOthersGrantTheLock_thenTheHolderKnewBefore() throws Exception {
        ZooKeeperServer first = start(1);
        ZooKeeperServer leader = start(3);
        await(leader, "leader");
        ZooKeeperServer second = start(2);
        await(second, "follower");
        await(first, "follower");
        String others = "zookeeper://" + first.address() + "," + second.address();

        try (ZooKeeperStore store = Stores.open(leader.address(), Stores.session(Duration.ofSeconds(12)));
                ZooKeeperStore rivals = Stores.open(others + "?sessionTimeout=60s")) {
            List<String> events = new CopyOnWriteArrayList<>();
            Lock holder = new LockFactory(store).createLock("deposed");
            holder.onLost(reason -> events.add("lost"));
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Long> rival = BackgroundCall.start(() -> {
                Lock lock = new LockFactory(rivals).createLock("deposed").acquire();
                // By the clock: on a busy machine, the thread that tells the holder may come later.
                events.add(holder.isExpired() ? "rival holds" : "both hold");
                return lock.fencingToken().orElseThrow();
            });
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> rivals.sessions().forUse("deposed").waiting() == 1);

            proxy.sever();

            Awaitility.await().atMost(LIMIT).until(rival::isDone);
            assertThat(rival.result()).isGreaterThan(token);
            assertThat(leader.leads()).as("not noticed yet").isTrue();
            Awaitility.await().atMost(LIMIT).until(() -> events.size() == 2);
            assertThat(events).containsExactlyInAnyOrder("lost", "rival holds");
            assertThat(holder.isExpired()).isTrue();
        }
    }
}

package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.EtcdCluster;
import dev.latchkey.servers.EtcdServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The leader of three servers is cut off from the others, and clients reach all of them. */
@Tag("slow")
class PartitionIT {

    private static final Duration LONG_TTL = Duration.ofMinutes(5);

    private EtcdCluster cluster;
    private EtcdServer leader;
    private List<EtcdServer> others;

    @BeforeEach
    void start() {
        cluster = EtcdCluster.startSeparable();
        leader = cluster.leader();
        others = cluster.servers().stream()
                .filter(server -> !server.address().equals(leader.address()))
                .toList();
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    private void cutOffTheLeader() {
        cluster.cutOff(leader);
        EtcdCluster.leaderAmong(others);
    }

    private void heal() {
        cluster.heal();
        cluster.awaitAll();
    }

    private LockFactory atAllButTheLeader() {
        return LockFactory.connect(EtcdCluster.dsn(others));
    }

    private LockFactory atTheLeaderAlone() {
        return LockFactory.connect(leader.dsn() + "?timeout=2000");
    }

    @Test
    void givenAClientTalksToTheMinority_whenItTriesAndReleases_thenItFailsAndNothingChanges() throws Exception {
        try (LockFactory minority = atTheLeaderAlone();
                LockFactory majority = atAllButTheLeader()) {
            Lock held = minority.createLock("held", LONG_TTL);
            assertThat(held.tryAcquire()).isTrue();
            cutOffTheLeader();

            assertThatThrownBy(minority.createLock("free", LONG_TTL)::tryAcquire)
                    .isInstanceOf(LockStorageException.class);
            assertThatThrownBy(held::isAcquired).isInstanceOf(LockStorageException.class);

            assertThat(majority.createLock("held", LONG_TTL).tryAcquire()).isFalse();
            Lock free = majority.createLock("free", LONG_TTL);
            assertThat(free.tryAcquire()).isTrue();
            heal();
            assertThat(free.isAcquired()).isTrue();
            assertThat(held.isAcquired()).isTrue();
            assertThat(held.release()).isTrue();
        }
    }
}

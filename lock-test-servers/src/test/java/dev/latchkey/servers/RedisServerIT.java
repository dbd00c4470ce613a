package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketTimeoutException;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.embedded.core.ExecutableProvider;

class RedisServerIT {

    @Test
    void givenDurableServer_whenKilledAndRestarted_thenItHasItsDataAtTheSameAddress() {
        try (RedisServer server = RedisServer.startDurable()) {
            server.call("SET", "a", "1");

            server.kill();
            server.restart();

            assertThat(server.text("GET", "a")).isEqualTo("1");
        }
    }

    @Test
    void givenDurableServer_whenKilledAndRestartedEmpty_thenItsDataIsGone() {
        try (RedisServer server = RedisServer.startDurable()) {
            server.call("SET", "a", "1");

            server.kill();
            server.restartEmpty();

            assertThat(server.call("GET", "a")).isNull();
        }
    }

    @Test
    void givenServer_whenFrozen_thenItTakesConnectionsAndAnswersOnlyOnceThawed() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            server.freeze();
            try (var socket = server.address().connect()) {
                socket.setSoTimeout(200);
                socket.getOutputStream().write("PING\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);

                server.thaw();

                socket.setSoTimeout(10_000);
                assertThat(socket.getInputStream().read()).isEqualTo('+');
            }
        }
    }

    @Test
    void givenServer_whenClosed_thenItIsGone() {
        RedisServer server = RedisServer.start();

        server.close();

        assertThatThrownBy(() -> RedisConnection.open(server.address())).isInstanceOf(java.net.ConnectException.class);
    }

    @Test
    void givenTheServerOfTheArtifact_whenStarted_thenItAnswers() throws Exception {
        Launcher artifact = new BinaryLauncher(
                ExecutableProvider.newJarResourceProvider().get().toPath());

        try (LocalServer server = LocalServer.start(RedisServer.plan("artifact", artifact, List.of()))) {
            assertThat(RedisServer.answers(server.address())).isTrue();
        }
    }

    @Test
    void givenMasterAndReplica_whenTheMasterFreezes_thenTheReplicaTakesItsPlaceWithItsData() {
        try (RedisSentinel sentinel = RedisSentinel.start()) {
            sentinel.master().call("SET", "a", "1");
            sentinel.awaitInStep();

            sentinel.master().freeze();
            sentinel.awaitFailover();

            assertThat(sentinel.replica().text("GET", "a")).isEqualTo("1");
        }
    }

    @Test
    void givenCluster_whenASlotIsMoved_thenItsKeysMoveAlong() {
        try (RedisCluster cluster = RedisCluster.start()) {
            RedisServer source = cluster.masterOf("{a}");
            RedisServer target = cluster.masters().stream()
                    .filter(master -> master != source)
                    .findFirst()
                    .orElseThrow();
            source.call("SET", "{a}", "1");

            cluster.move("{a}", target);

            assertThat(cluster.masterOf("{a}")).isSameAs(target);
            assertThat(target.text("GET", "{a}")).isEqualTo("1");
            assertThatThrownBy(() -> source.call("GET", "{a}"))
                    .isInstanceOf(RedisRefusal.class)
                    .hasMessageStartingWith("MOVED");
        }
    }
}

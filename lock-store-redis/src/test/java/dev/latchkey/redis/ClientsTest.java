package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.cluster.ClusterTopologyRefreshOptions.RefreshTrigger;
import org.junit.jupiter.api.Test;

class ClientsTest {

    /** Whatever the driver's default, which is not the same in all of its versions. */
    @Test
    void givenACluster_whenItChanges_thenEverySignOfThatIsFollowed() {
        assertThat(Clients.clusterOptions().getTopologyRefreshOptions().getAdaptiveRefreshTriggers())
                .containsExactlyInAnyOrder(RefreshTrigger.values());
    }
}

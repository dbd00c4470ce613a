package dev.latchkey.chaos;

import dev.latchkey.servers.ZooKeeperEnsemble;
import dev.latchkey.servers.ZooKeeperServer;
import org.jspecify.annotations.Nullable;

/** Freezes the leader until the others have another one; thawed, it does not know that it leads no more. */
final class LeaderDeposition implements ServerTrouble {

    private final ZooKeeperEnsemble ensemble;
    private @Nullable ZooKeeperServer deposed;

    LeaderDeposition(ZooKeeperEnsemble ensemble) {
        this.ensemble = ensemble;
    }

    @Override
    public void strike() {
        deposed = ensemble.leader();
        deposed.freeze();
    }

    @Override
    public void heal() {
        if (deposed != null) {
            deposed.thaw();
        }
    }
}

package dev.latchkey.chaos;

import dev.latchkey.testkit.OwnServer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Freezes the leader until the others have another one; thawed, it does not know that it leads no more. */
final class LeaderDeposition implements ServerTrouble {

    private final Supplier<? extends OwnServer> leader;
    private @Nullable OwnServer deposed;

    /** @param leader returns the server that leads, once one does */
    LeaderDeposition(Supplier<? extends OwnServer> leader) {
        this.leader = leader;
    }

    @Override
    public void strike() {
        deposed = leader.get();
        deposed.freeze();
    }

    @Override
    public void heal() {
        if (deposed != null) {
            deposed.thaw();
        }
    }
}

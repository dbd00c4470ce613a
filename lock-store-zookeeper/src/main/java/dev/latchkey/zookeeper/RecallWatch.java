package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/**
 * Tells the holder of a sticky hold what happens to its node: others who ask for the resource write to it, and if it is deleted,
 * the hold is lost. Whoever cannot hear that has its hold recalled at once.
 */
final class RecallWatch implements Watcher {

    private final Holds holds;
    private final Hold hold;
    private final Requests requests;

    RecallWatch(Holds holds, Hold hold) {
        this.holds = holds;
        this.hold = hold;
        this.requests = hold.place().session().requests();
    }

    /** Does not wait for the answer. Others may have written before. */
    void begin() {
        var unused = requests.watch(hold.place().path(), this).thenAccept(data -> {
            if (data.is(Code.NONODE)) {
                gone();
            } else if (!data.isOk() || data.value().length > 0) {
                hold.recall();
            }
            if (data.isLost()) {
                Sweeper.LATER.execute(this::watchOn);
            }
        });
    }

    @Override
    public void process(WatchedEvent event) {
        switch (event.getType()) {
            case NodeDeleted -> gone();
            case NodeDataChanged -> {
                hold.recall();
                // It may be in use for long yet.
                watchOn();
            }
            default -> {
                // Events of the connection come here too; the watch outlasts them, unless the client forgets it.
                if (requests.dropsWatches(event)) {
                    hold.recall();
                }
            }
        }
    }

    /** Each watch is for one change. */
    private void watchOn() {
        if (hold.isLive()) {
            begin();
        }
    }

    private void gone() {
        if (hold.isLive()) {
            holds.loseTo(hold, LossReason.RELEASED_ELSEWHERE);
        }
    }
}

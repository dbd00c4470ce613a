package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;

/** One call that waits, round after round. Any thread may end it. */
final class Waiter {

    private final CompletableFuture<WaitSignal> ended = new CompletableFuture<>();
    private volatile WaitRound round = new WaitRound();

    /** Completes when it waits no longer, whatever happens in the line. */
    CompletableFuture<WaitSignal> ended() {
        return ended;
    }

    /** Whether it was withdrawn. */
    boolean isStopped() {
        return ended.isDone() && ended.join().equals(WaitSignal.STOP);
    }

    /** Begins a round, before the line is looked at: what happens from now on is not missed. */
    WaitRound newRound() {
        WaitRound fresh = new WaitRound();
        round = fresh;
        if (ended.isDone()) {
            fresh.tell(ended.join());
        }
        return fresh;
    }

    void look() {
        round.tell(WaitSignal.LOOK);
    }

    void end(WaitSignal signal) {
        ended.complete(signal);
        round.tell(signal);
    }
}

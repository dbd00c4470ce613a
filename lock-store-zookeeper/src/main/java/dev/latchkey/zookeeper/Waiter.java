package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;

/** A call that waits, in rounds. Any thread may end it. */
final class Waiter {

    private final CompletableFuture<WaitSignal> ended = new CompletableFuture<>();
    private volatile WaitRound round = new WaitRound();

    /** Completes when the wait has ended, whatever happens in the queue. */
    CompletableFuture<WaitSignal> ended() {
        return ended;
    }

    /** Returns whether it was withdrawn. */
    boolean isStopped() {
        return ended.isDone() && ended.join().equals(WaitSignal.STOP);
    }

    /** Starts a round. Call it before the queue is read, so that no later change is missed. */
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

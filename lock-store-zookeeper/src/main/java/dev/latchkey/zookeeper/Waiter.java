package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;

/** One call that waits, round after round. Any thread may end it. */
final class Waiter {

    private final CompletableFuture<Signal> ended = new CompletableFuture<>();
    private volatile Round round = new Round();

    /** Completes when it waits no longer, whatever happens in the line. */
    CompletableFuture<Signal> ended() {
        return ended;
    }

    /** Whether it was withdrawn. */
    boolean isStopped() {
        return ended.isDone() && ended.join().equals(Signal.STOP);
    }

    /** Begins a round, before the line is looked at: what happens from now on is not missed. */
    Round newRound() {
        Round fresh = new Round();
        round = fresh;
        if (ended.isDone()) {
            fresh.tell(ended.join());
        }
        return fresh;
    }

    void look() {
        round.tell(Signal.LOOK);
    }

    void end(Signal signal) {
        ended.complete(signal);
        round.tell(signal);
    }
}

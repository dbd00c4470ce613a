package dev.latchkey.etcd;

import io.grpc.ManagedChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection to each server. One of them is used, until it fails; then the next one is. */
final class Channels {

    private static final long END_MILLIS = 2_000;

    private final List<ManagedChannel> channels;
    private final AtomicInteger moves = new AtomicInteger();

    Channels(List<ManagedChannel> channels) {
        this.channels = channels;
    }

    int size() {
        return channels.size();
    }

    /** Changes with the server that is used. */
    int moves() {
        return moves.get();
    }

    ManagedChannel at(int move) {
        return channels.get(Math.floorMod(move, channels.size()));
    }

    /** Called when a request has failed; if others have moved on meanwhile, that is enough. */
    void moveFrom(int move) {
        if (moves.compareAndSet(move, move + 1)) {
            // Otherwise a channel that has failed waits ever longer before it tries again.
            at(move + 1).resetConnectBackoff();
        }
    }

    /** Waits, so that no thread of the driver outlives the store for long. */
    void close() {
        channels.forEach(ManagedChannel::shutdownNow);
        boolean isInterrupted = false;
        for (ManagedChannel channel : channels) {
            try {
                channel.awaitTermination(END_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One pause of a waiter, until the first signal. */
final class WaitRound {

    private final CompletableFuture<WaitSignal> told = new CompletableFuture<>();

    void tell(WaitSignal signal) {
        told.complete(signal);
    }

    /** Returns {@link WaitSignal#STOP} if there is none in time. */
    WaitSignal await(long endNanos) throws InterruptedException {
        try {
            return told.get(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return WaitSignal.STOP;
        } catch (ExecutionException e) {
            throw new IllegalStateException("no signal completes like that", e.getCause());
        }
    }
}

package dev.latchkey.redis;

import dev.latchkey.Lock;
import dev.latchkey.testkit.TimeLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** Calls that wait, each on a thread of its own: the common pool has one where there are two processors. */
final class Background {

    private Background() {}

    static CompletableFuture<Lock> acquire(Lock lock) {
        return supply(() -> {
            try {
                return lock.acquire(TimeLimits.LIMIT);
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        });
    }

    static <T> CompletableFuture<T> supply(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, work -> {
            Thread thread = new Thread(work, "background");
            thread.setDaemon(true);
            thread.start();
        });
    }
}

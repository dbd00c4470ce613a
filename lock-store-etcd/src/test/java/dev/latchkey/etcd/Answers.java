package dev.latchkey.etcd;

import dev.latchkey.Lock;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.TimeLimits;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** Requests to a cluster whose servers may not answer in time. */
final class Answers {

    private Answers() {}

    /** Takes what is free. The store does not repeat a request that may have had an effect if it was not answered. */
    static void acquire(Lock lock) {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(lock::tryAcquire);
    }

    /** Returns the first answer. */
    static boolean answered(Callable<Boolean> request) {
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(() -> Optional.of(request.call()), Optional::isPresent)
                .orElseThrow();
    }
}

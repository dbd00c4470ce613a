package dev.latchkey.redis;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The threads of the driver, shared by all open stores that were created from a DSN. A request to several servers at once therefore
 * wakes one thread.
 */
final class DriverThreads {

    private static final long QUIET_MILLIS = 10;
    private static final long LONGEST_SHUTDOWN_MILLIS = 2_000;
    private static final Duration LONGEST_RECONNECT_PAUSE = Duration.ofSeconds(1);

    private static @Nullable ClientResources shared;
    private static int users;

    private final ClientResources resources;
    private final AtomicBoolean given = new AtomicBoolean();

    private DriverThreads(ClientResources resources) {
        this.resources = resources;
    }

    /** Returns the shared threads; the caller gives them back. */
    static synchronized DriverThreads take() {
        ClientResources known = shared;
        if (known == null) {
            known = ClientResources.builder()
                    .ioThreadPoolSize(2)
                    .computationThreadPoolSize(2)
                    .reconnectDelay(Delay.exponential(Duration.ZERO, LONGEST_RECONNECT_PAUSE, 2, TimeUnit.MILLISECONDS))
                    .build();
            shared = known;
        }
        users++;
        return new DriverThreads(known);
    }

    ClientResources resources() {
        return resources;
    }

    /** Idempotent, because a store may be closed twice. */
    void giveBack() {
        if (given.compareAndSet(false, true)) {
            leave();
        }
    }

    private static synchronized void leave() {
        users--;
        ClientResources last = shared;
        if (users == 0 && last != null) {
            shared = null;
            var unused = last.shutdown(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }
}

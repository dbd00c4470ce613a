package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;

/**
 * Who this store belongs to, for people. The server keeps one entry for each store, by its inbox, which each hold names. It is
 * written with the first request and again some times a day, so that a cycle costs no more.
 */
final class OwnerNames {

    private static final long KEEP_MILLIS = Duration.ofDays(1).toMillis();
    private static final long WRITE_AGAIN_NANOS = Duration.ofHours(6).toNanos();
    private static final long TRY_AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    /** More would not fit into the entry, and each new one costs a request. */
    private static final int MOST_NAMES = 16;

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int MOST_TRIES = 10;

    private final ScriptRunner server;
    private final Requests requests;
    private final String inbox;

    /** Factories that share the store may have different names. The first ones are kept. */
    private final Set<String> owners = new ConcurrentSkipListSet<>();

    private volatile long writeAgainNanos = System.nanoTime();

    OwnerNames(ScriptRunner server, Requests requests, String inbox) {
        this.server = server;
        this.requests = requests;
        this.inbox = inbox;
    }

    /**
     * Notes who has sent a request. It neither waits nor connects: a request that has to connect first is sent by another thread,
     * which notes it then. Without an answer people see no name.
     */
    void use(Request request) {
        String owner = request.owner();
        if (!owner.isEmpty() && isToBeWritten(owner) && server.link().isConnected()) {
            write(owner);
        }
    }

    private boolean isToBeWritten(String owner) {
        boolean isKnown = owners.contains(owner) || owners.size() >= MOST_NAMES;
        return !isKnown || writeAgainNanos - System.nanoTime() <= 0;
    }

    /** In turn, so that the entry written last has all names. */
    private synchronized void write(String owner) {
        if (!isToBeWritten(owner)) {
            return;
        }
        if (owners.size() < MOST_NAMES) {
            owners.add(owner);
        }
        writeAgainNanos = System.nanoTime() + WRITE_AGAIN_NANOS;
        send(0);
    }

    private synchronized void send(int failures) {
        String all = bounded(String.join(", ", owners));
        try {
            var unused = server.send(requests.who(inbox, all, KEEP_MILLIS))
                    .answer()
                    .orTimeout(server.limit().toNanos(), TimeUnit.NANOSECONDS)
                    .whenComplete((reply, failure) -> {
                        if (failure != null) {
                            failed(failure, failures + 1);
                        }
                    });
        } catch (LockStorageException e) {
            // What was sent before it fails as well, and says so.
            tryAgainLater();
        }
    }

    /** In a cluster the entry is on a server of its own, and the driver refuses what is sent while it connects to that. */
    private void failed(Throwable failure, int failures) {
        boolean isRetried = Failures.isPassing(failure)
                && failures < MOST_TRIES
                && server.link().later(PAUSE.multipliedBy(failures), () -> send(failures));
        if (!isRetried) {
            tryAgainLater();
        }
    }

    private void tryAgainLater() {
        writeAgainNanos = System.nanoTime() + TRY_AGAIN_NANOS;
    }

    private static String bounded(String all) {
        String shown = all;
        while (shown.getBytes(StandardCharsets.UTF_8).length > Request.MAX_OWNER_BYTES) {
            shown = shown.substring(0, shown.offsetByCodePoints(shown.length(), -1));
        }
        return shown;
    }
}

package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Who this store belongs to, for people. The server keeps one entry for each store, by its inbox, which each hold names. It is
 * written with the first request and again some times a day, so that a cycle costs no more.
 */
final class OwnerNames {

    private static final long KEEP_MILLIS = Duration.ofDays(1).toMillis();
    private static final long WRITE_AGAIN_NANOS = Duration.ofHours(6).toNanos();

    private final ScriptRunner server;
    private final Requests requests;
    private final String inbox;

    /** Factories that share the store may have different names. */
    private final Set<String> owners = new ConcurrentSkipListSet<>();

    private volatile long writeAgainNanos = System.nanoTime();

    OwnerNames(ScriptRunner server, Requests requests, String inbox) {
        this.server = server;
        this.requests = requests;
        this.inbox = inbox;
    }

    /** Notes who has sent a request. It does not wait, and without an answer people see no name. */
    void use(Request request) {
        String owner = request.owner();
        long now = System.nanoTime();
        boolean isWritten = owner.isEmpty() || (owners.contains(owner) && writeAgainNanos - now > 0);
        if (isWritten) {
            return;
        }
        owners.add(owner);
        writeAgainNanos = now + WRITE_AGAIN_NANOS;
        try {
            var unused = server.send(requests.who(inbox, bounded(String.join(", ", owners)), KEEP_MILLIS));
        } catch (LockStorageException e) {
            // What was sent before it fails as well, and says so.
            writeAgainNanos = now;
        }
    }

    private static String bounded(String all) {
        String shown = all;
        while (shown.getBytes(StandardCharsets.UTF_8).length > Request.MAX_OWNER_BYTES) {
            shown = shown.substring(0, shown.offsetByCodePoints(shown.length(), -1));
        }
        return shown;
    }
}

package dev.latchkey.examples;

import dev.latchkey.LockFactory;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import java.time.Duration;
import java.util.Optional;

/**
 * Exports that run on many hosts, and never on more than two at the same time.
 *
 * <p>{@code ExportLimit DSN HOST}. It exports until it reads a line. What to see: the third one waits, and exports as soon as
 * one of the others is done. If one is killed, its permit is free when its lease ends, after 15 seconds.
 *
 * <p>Without Java: {@code lock run --permits 2 --ttl 15s --store DSN exports -- command}.
 */
public final class ExportLimit {

    private ExportLimit() {}

    /**
     * Exports when it is its turn.
     *
     * @param args the DSN, and who exports
     * @throws Exception if there is nothing to read, or the wait is interrupted
     */
    public static void main(String[] args) throws Exception {
        try (LockFactory locks = LockFactory.connect(args[0])) {
            Semaphore exports = locks.semaphore("exports", 2)
                    .ttl(Duration.ofSeconds(15))
                    .autoRefresh() // An export may take longer than the TTL.
                    .create();
            Optional<Permit> free = exports.tryAcquire();
            if (free.isEmpty()) {
                System.out.println(
                        args[1] + " waits, " + exports.available() + " of " + exports.permits() + " are free");
            }
            try (Permit permit = free.isPresent() ? free.get() : exports.acquire()) {
                System.out.println(args[1] + " exports with " + permit.count() + " permit");
                int unused = System.in.read();
            }
        }
    }
}

package dev.latchkey.chaos;

import java.util.concurrent.locks.LockSupport;

/** Writes down when this process, or the machine, did not get on: a judge of latencies must not blame a store for that. */
final class Stalls {

    private static final long TICK_NANOS = 10_000_000;
    private static final long STALL_NANOS = 100_000_000;

    private Stalls() {}

    static void watch(String process, EventLog log) {
        Daemon.start("stalls of " + process, () -> run(process, log));
    }

    private static void run(String process, EventLog log) {
        long last = System.nanoTime();
        while (log.isOpen()) {
            LockSupport.parkNanos(TICK_NANOS);
            long now = System.nanoTime();
            if (now - last > STALL_NANOS) {
                log.stalled(process, last, now);
            }
            last = now;
        }
    }
}

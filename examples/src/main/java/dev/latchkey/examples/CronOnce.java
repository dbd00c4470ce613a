package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/**
 * A job that cron starts on many hosts at about the same time, and that is to run on one of them.
 *
 * <p>{@code CronOnce DSN HOST}. What to see: of all that are started within a minute, one says that it runs the job; the
 * others end at once, also those that start when the first has long finished. The minimal hold sees to that: a release
 * before it is over leaves a lease for the rest, so that a host whose clock is late finds the lock held.
 *
 * <p>Without Java: {@code lock run -x --min-hold 1m --store DSN nightly -- command}.
 */
public final class CronOnce {

    private CronOnce() {}

    /**
     * Runs the job, unless it runs elsewhere or has just run.
     *
     * @param args the DSN, and who runs it
     */
    public static void main(String[] args) {
        try (LockFactory locks = LockFactory.connect(args[0]);
                Lock lock = locks.lock("nightly")
                        .ttl(Duration.ofMinutes(5))
                        .autoRefresh() // The job may take longer than the TTL.
                        .minHold(Duration.ofMinutes(1)) // More than the clocks of the hosts differ.
                        .create()) {
            if (lock.tryAcquire()) {
                System.out.println(args[1] + " runs the job");
            } else {
                System.out.println(args[1] + " leaves it to another");
            }
        }
    }
}

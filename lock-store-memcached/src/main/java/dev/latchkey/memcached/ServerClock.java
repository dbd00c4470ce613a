package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The clock of the server, which only its statistics tell, in whole seconds. It tells a key that was found how long it may
 * rely on its hold, and people how long a holder has left. It decides nothing: the server does, by the TTLs of items.
 */
final class ServerClock {

    private static final long RENEWED_NANOS = Duration.ofSeconds(30).toNanos();

    /** What counts of the time since a reading, should clocks not run alike. */
    private static final double CERTAIN = 0.99;

    /** A clock that is behind by no more than this is covered by {@link TtlSeconds#SLACK}. */
    private static final long HARMLESS_NANOS = Duration.ofSeconds(1).toNanos();

    private static final long TICK_LIMIT_NANOS = Duration.ofSeconds(3).toNanos();
    private static final long TICK_PAUSE_NANOS = Duration.ofMillis(50).toNanos();

    /** A reading of the clock, and when it was asked for and had. */
    private record Reading(String run, long second, long beforeNanos, long afterNanos) {}

    private final ServerCalls link;
    private volatile Optional<Reading> last = Optional.empty();
    private volatile OptionalLong askedAt = OptionalLong.empty();

    ServerClock(ServerCalls link) {
        this.link = link;
    }

    /** The end of what lasts so many seconds from now, if it is stored now: rather too early than too late. */
    LeaseEnd endIn(String resource, int seconds) {
        return reading(resource)
                .map(then -> new LeaseEnd(then.run(), then.second() + certainlyPassed(then) + seconds))
                .orElse(LeaseEnd.UNKNOWN);
    }

    private static long certainlyPassed(Reading then) {
        return (long) ((System.nanoTime() - then.afterNanos()) * CERTAIN / 1e9);
    }

    private Optional<Reading> reading(String resource) {
        OptionalLong asked = askedAt;
        if (asked.isEmpty() || System.nanoTime() - asked.getAsLong() > RENEWED_NANOS) {
            askedAt = OptionalLong.of(System.nanoTime());
            last = read(resource);
        }
        return last;
    }

    /**
     * What is left.
     *
     * @param sinceNanos from when on
     * @param time how long; zero if that is not known, or less than the clock can tell
     */
    record Left(long sinceNanos, Duration time) {}

    /** What is certainly left until an end. */
    Left leftUntil(String resource, LeaseEnd end) {
        long now = System.nanoTime();
        Optional<Reading> reading = read(resource);
        if (System.nanoTime() - now > HARMLESS_NANOS) {
            awaitTick(resource, now);
            reading = read(resource);
        }
        last = reading;
        // The clock may go on right after it was read.
        return reading.filter(then -> then.run().equals(end.run()))
                .map(then -> new Left(
                        then.beforeNanos(),
                        Duration.ofSeconds(Math.max(0, end.second() - then.second() - TtlSeconds.SLACK))))
                .orElse(new Left(now, Duration.ZERO));
    }

    /**
     * Waits until the clock has been set once more, if an answer took so long that the server may have been stopped
     * meanwhile: it answers by the clock it had before, until it sets it.
     *
     * @param sinceNanos when the answer was asked for
     * @throws LockStorageException if the clock stands still
     */
    void awaitTick(String resource, long sinceNanos) {
        if (System.nanoTime() - sinceNanos <= HARMLESS_NANOS) {
            return;
        }
        long start = System.nanoTime();
        Optional<Reading> first = read(resource);
        Optional<Reading> now = first;
        while (now.isPresent() && isSameSecond(first.get(), now.get())) {
            if (System.nanoTime() - start > TICK_LIMIT_NANOS) {
                throw new LockStorageException(
                        resource,
                        "the Memcached server failed: its clock has stood still for "
                                + Duration.ofNanos(TICK_LIMIT_NANOS),
                        null);
            }
            LockSupport.parkNanos(TICK_PAUSE_NANOS);
            now = read(resource);
        }
    }

    private static boolean isSameSecond(Reading one, Reading other) {
        return one.run().equals(other.run()) && one.second() == other.second();
    }

    private Optional<Reading> read(String resource) {
        long before = System.nanoTime();
        Map<String, String> statistics = link.statistics(resource);
        try {
            long time = Long.parseLong(statistics.getOrDefault("time", ""));
            long start = time - Long.parseLong(statistics.getOrDefault("uptime", ""));
            String run = statistics.getOrDefault("pid", "") + "." + start;
            return Optional.of(new Reading(run, time, before, System.nanoTime()));
        } catch (NumberFormatException e) {
            // A server that does not answer, or a proxy that has no statistics of a server: nothing depends on them.
            return Optional.empty();
        }
    }
}

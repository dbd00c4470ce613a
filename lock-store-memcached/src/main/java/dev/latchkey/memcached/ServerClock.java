package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The clock of the server, which only its statistics tell, in whole seconds. One of the server's threads sets it once a
 * second; after the server was stopped, others may answer before that, and count the seconds of a TTL from a clock that is
 * far behind.
 *
 * <p>The rule that makes a hold last as long as its holder believes: seconds are sent only if the clock was set within the
 * last two seconds, as two readings show that differ. Otherwise a date is sent, so that it does not matter by which clock the
 * server stores it. The date counts from a reading asked for just then, or from what earlier readings say the clock must
 * show by now, whichever is later.
 */
final class ServerClock {

    private static final long READ_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long ASKED_AGAIN_NANOS = Duration.ofSeconds(30).toNanos();

    /** A clock that was set since then is right, within {@link TtlSeconds#SLACK}. */
    private static final long RIGHT_NANOS = Duration.ofSeconds(2).toNanos();

    /** One reading serves all that one call stores. */
    private static final long SAME_CALL_NANOS = Duration.ofMillis(100).toNanos();

    private static final long LATE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long TICK_LIMIT_NANOS = Duration.ofSeconds(3).toNanos();
    private static final long TICK_PAUSE_NANOS = Duration.ofMillis(50).toNanos();

    /** A proxy may answer with statistics of its own, and a clock of its own, which is not the one that counts. */
    private static final String OF_A_SERVER = "limit_maxbytes";

    private static final String OF_A_PROXY = "proxy_conn_requests";

    private final ServerCalls link;
    private final Object guard = new Object();
    private volatile Optional<KnownTime> known = Optional.empty();
    private OptionalLong firstAskedNanos = OptionalLong.empty();
    private volatile long askedNanos;
    private volatile OptionalLong refusedNanos = OptionalLong.empty();

    ServerClock(ServerCalls link) {
        this.link = link;
    }

    /**
     * Reads the clock if it was never read, before anything else is asked. There is nothing yet to judge that reading by: if the
     * clock was first asked for a while ago, the server may have been stopped, and the clock counts when it has been set.
     */
    void meet(String resource) {
        if (known.isPresent() || isPassedSince(refusedNanos)) {
            return;
        }
        long start = firstAsked();
        Optional<Reading> first = read(resource);
        if (first.isEmpty()) {
            // So it is also where the connection broke meanwhile: the driver does not say so.
            first = read(resource);
        }
        if (first.isPresent() && System.nanoTime() - start > LATE_NANOS) {
            Reading next = afterTick(resource, first.get());
            if (next.isSameSecondAs(first.get())) {
                throw new LockStorageException(
                        resource,
                        "the Memcached server failed: its clock has stood still for "
                                + Duration.ofNanos(TICK_LIMIT_NANOS),
                        null);
            }
            first = Optional.of(next);
        }
        if (first.isEmpty()) {
            refusedNanos = OptionalLong.of(System.nanoTime());
        }
        first.ifPresent(this::learn);
    }

    /** Also by a call that was given up, or by another thread that still waits. */
    private long firstAsked() {
        synchronized (guard) {
            firstAskedNanos = OptionalLong.of(firstAskedNanos.orElseGet(System::nanoTime));
            return firstAskedNanos.getAsLong();
        }
    }

    private static boolean isPassedSince(OptionalLong refused) {
        return refused.isPresent() && System.nanoTime() - refused.getAsLong() < ASKED_AGAIN_NANOS;
    }

    /**
     * Reads the clock until it shows another second, or has stood still for a while. A reading shows that if it was
     * asked for so late: one that was only had so late may have been taken before.
     */
    private Reading afterTick(String resource, Reading first) {
        Reading now = first;
        while (now.isSameSecondAs(first) && now.beforeNanos() - first.afterNanos() <= TICK_LIMIT_NANOS) {
            LockSupport.parkNanos(TICK_PAUSE_NANOS);
            now = readAgain(resource).orElseThrow(() -> silent(resource));
        }
        return now;
    }

    /** The time by which to store something now: rather too early than too late. */
    ServerTime now(String resource) {
        return known.flatMap(before -> upToDate(resource, before))
                .map(ServerClock::timeOf)
                .orElse(ServerTime.UNKNOWN);
    }

    private static ServerTime timeOf(KnownTime time) {
        long now = System.nanoTime();
        String run = time.last().run();
        return isRight(time, now)
                ? new ServerTime(new LeaseEnd(run, time.last().second()), ServerTime.Counting.SECONDS)
                : new ServerTime(new LeaseEnd(run, time.secondAt(now)), ServerTime.Counting.DATE);
    }

    private static boolean isRight(KnownTime time, long now) {
        return time.isSetAfter(now - RIGHT_NANOS);
    }

    /** Read once a second while the clock is right, and for each call until it is known to be; empty: a proxy answers now. */
    private Optional<KnownTime> upToDate(String resource, KnownTime time) {
        long now = System.nanoTime();
        boolean isRecent = isRight(time, now)
                ? now - askedNanos < READ_AGAIN_NANOS
                : now - time.last().beforeNanos() < SAME_CALL_NANOS;
        if (isRecent) {
            return Optional.of(time);
        }
        askedNanos = now;
        return fresh(resource);
    }

    /**
     * Reads a clock that was known. Where it is behind, either it was not set since the server was stopped, or the server's
     * machine was suspended with all its clocks: when it is set next it tells which.
     */
    private Optional<KnownTime> fresh(String resource) {
        Optional<Reading> reading = readAgain(resource);
        if (reading.isEmpty()) {
            known = Optional.empty();
            refusedNanos = OptionalLong.of(System.nanoTime());
            return Optional.empty();
        }
        KnownTime time = learn(reading.get());
        return Optional.of(time.isBehind() ? learn(afterTick(resource, time.last())) : time);
    }

    /** What is certainly left until an end; zero if that is not known, or less than the clock can tell. */
    Duration leftUntil(String resource, LeaseEnd end) {
        Optional<KnownTime> time = known.flatMap(before -> fresh(resource));
        return time.filter(one -> one.last().run().equals(end.run()))
                .map(one -> end.second() - one.secondAt(System.nanoTime()) - TtlSeconds.SLACK)
                .map(left -> Duration.ofSeconds(Math.max(0, left)))
                .orElse(Duration.ZERO);
    }

    private KnownTime learn(Reading reading) {
        synchronized (guard) {
            KnownTime time = known.map(before -> before.with(reading)).orElseGet(() -> KnownTime.first(reading));
            known = Optional.of(time);
            return time;
        }
    }

    /**
     * From a server that has told its clock before; empty: something else answers in its place, which has none. The driver
     * answers with nothing at all where the connection broke.
     */
    private Optional<Reading> readAgain(String resource) {
        long before = System.nanoTime();
        Map<String, String> statistics = link.statistics(resource);
        if (statistics.isEmpty()) {
            throw silent(resource);
        }
        return reading(statistics, before);
    }

    private static LockStorageException silent(String resource) {
        return new LockStorageException(
                resource, "the Memcached server failed: it does not tell its clock any more", null);
    }

    private Optional<Reading> read(String resource) {
        long before = System.nanoTime();
        return reading(link.statistics(resource), before);
    }

    private static Optional<Reading> reading(Map<String, String> statistics, long before) {
        if (!statistics.containsKey(OF_A_SERVER) || statistics.containsKey(OF_A_PROXY)) {
            return Optional.empty();
        }
        try {
            long time = Long.parseLong(statistics.getOrDefault("time", ""));
            long start = time - Long.parseLong(statistics.getOrDefault("uptime", ""));
            String run = statistics.getOrDefault("pid", "") + "." + start;
            return Optional.of(new Reading(run, time, before, System.nanoTime()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** A reading of the clock, and when it was asked for and had. */
    record Reading(String run, long second, long beforeNanos, long afterNanos) {

        boolean isSameSecondAs(Reading other) {
            return run.equals(other.run) && second == other.second;
        }
    }
}

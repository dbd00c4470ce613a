package dev.latchkey.memcached;

import dev.latchkey.memcached.ServerClock.Reading;
import java.util.OptionalLong;

/**
 * What readings of a server's clock say together, in one run of it.
 *
 * @param last the latest reading
 * @param base a second that the clock showed, and when it was asked for: with what has passed since then by this JVM's
 *     monotonic clock, it is less than two seconds behind the right time
 * @param setAfterNanos a moment after which the clock was set, as the readings before and after it differ
 */
record KnownTime(Reading last, Base base, OptionalLong setAfterNanos) {

    private static final double NANOS = 1e9;

    record Base(long second, long nanos) {

        double at(long now) {
            return second + (now - nanos) / NANOS;
        }
    }

    static KnownTime first(Reading reading) {
        return new KnownTime(reading, base(reading), OptionalLong.empty());
    }

    private static Base base(Reading reading) {
        return new Base(reading.second(), reading.beforeNanos());
    }

    /** What was asked for before the last reading says nothing more. */
    KnownTime with(Reading next) {
        if (!next.run().equals(last.run())) {
            return first(next);
        }
        if (next.second() < last.second() || next.beforeNanos() < last.beforeNanos()) {
            return this;
        }
        return next.second() > last.second()
                ? new KnownTime(next, corrected(next), OptionalLong.of(last.beforeNanos()))
                : new KnownTime(next, base, setAfterNanos);
    }

    /**
     * The clock is never ahead: where it shows more than the base says, this JVM's machine was suspended, or the base was read
     * shortly before the clock was set. And it was set to less than a second more after the last reading was asked for: where
     * the base says more for then, the server's machine was suspended.
     */
    private Base corrected(Reading next) {
        if (next.second() > base.at(next.afterNanos())) {
            return base(next);
        }
        return base.at(last.beforeNanos()) >= next.second() + 1
                ? new Base(next.second() - 1, last.beforeNanos())
                : base;
    }

    /** The last reading is further behind the base than a clock can be that is set. */
    boolean isBehind() {
        return base.at(last.beforeNanos()) - last.second() >= TtlSeconds.SLACK;
    }

    boolean isSetAfter(long nanos) {
        return setAfterNanos.isPresent() && setAfterNanos.getAsLong() - nanos >= 0;
    }

    /** A second that is less than three behind the right time, whether the clock is set or not. */
    long secondAt(long nanos) {
        return Math.max(last.second(), (long) Math.floor(base.at(nanos)));
    }
}

package dev.latchkey.testkit.planted;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.function.LongSupplier;

/** Reads the wall clock in every way there is; the last two read something else. */
final class ClockReaders {

    static final class Milliseconds {
        long read() {
            return System.currentTimeMillis();
        }
    }

    static final class ByReference {
        LongSupplier read() {
            return System::currentTimeMillis;
        }
    }

    static final class OfInstant {
        Instant read() {
            return Instant.now();
        }
    }

    static final class OfZone {
        ZonedDateTime read() {
            return ZonedDateTime.now(ZoneOffset.UTC);
        }
    }

    static final class OfClock {
        Instant read(Clock clock) {
            return clock.instant();
        }
    }

    @SuppressWarnings("JavaUtilDate")
    static final class OfDate {
        Date read() {
            return new Date();
        }
    }

    static final class OfCalendar {
        Calendar read() {
            return Calendar.getInstance();
        }
    }

    /** A time that a server answered. */
    @SuppressWarnings("JavaUtilDate")
    static final class OfServer {
        Date read(long answered) {
            return new Date(answered);
        }
    }

    static final class OfMonotonicClock {
        long read() {
            return System.nanoTime();
        }
    }
}

package dev.latchkey.redis;

import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;

/** A DSN for tests that do not test the time limit: on a machine as busy as all tests make it, a server may not answer within it. */
final class PatientDsn {

    private static final Duration DEFAULT_LIMIT = Duration.ofSeconds(3);

    private PatientDsn() {}

    static String of(String dsn) {
        return dsn + "?timeout=" + TimeLimits.scaled(DEFAULT_LIMIT).toMillis() + "ms";
    }
}

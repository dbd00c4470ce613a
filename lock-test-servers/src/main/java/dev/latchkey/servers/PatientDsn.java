package dev.latchkey.servers;

import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;

/**
 * DSNs for tests that do not test the time limit of a driver: on a machine as busy as all tests make it, a server may not answer
 * within the limit that a driver has, and a file may be locked for longer. On an idle machine it is twice the driver's, or the store's.
 */
public final class PatientDsn {

    private PatientDsn() {}

    /**
     * Returns the DSN of a store on Redis that waits for an answer for as long as this machine needs.
     *
     * @param dsn of one server, of a cluster, or of sentinels, without a time limit
     * @return the same with a limit
     */
    public static String redis(String dsn) {
        return of(dsn, "timeout=%dms", Duration.ofSeconds(3));
    }

    /**
     * Returns the DSN of a store on DynamoDB that waits for an answer for as long as this machine needs.
     *
     * @param dsn without a time limit
     * @return the same with a limit
     */
    public static String dynamoDb(String dsn) {
        return of(dsn, "timeout=%dms", Duration.ofSeconds(5));
    }

    /**
     * Returns the DSN of a store on etcd that waits for an answer for as long as this machine needs.
     *
     * @param dsn without a time limit
     * @return the same with a limit
     */
    public static String etcd(String dsn) {
        return of(dsn, "timeout=%dms", Duration.ofSeconds(5));
    }

    /**
     * Returns the DSN of a store on Memcached that waits for an answer for as long as this machine needs.
     *
     * @param dsn without a time limit
     * @return the same with a limit
     */
    public static String memcached(String dsn) {
        return of(dsn, "timeout=%dms", Duration.ofSeconds(3));
    }

    /**
     * Returns the URL of a database of SQLite whose driver waits for a locked file for as long as this machine needs: whoever
     * waits is served in no order.
     *
     * @param url without a time limit
     * @return the same with a limit
     */
    public static String sqlite(String url) {
        return of(url, "busy_timeout=%d", Duration.ofSeconds(3));
    }

    private static String of(String dsn, String option, Duration onIdleMachine) {
        // The DSN of sentinels ends with the name of the master.
        int fragment = dsn.indexOf('#');
        String before = fragment < 0 ? dsn : dsn.substring(0, fragment);
        char separator = before.indexOf('?') < 0 ? '?' : '&';
        return before
                + separator
                + String.format(option, TimeLimits.scaled(onIdleMachine).toMillis())
                + dsn.substring(before.length());
    }
}

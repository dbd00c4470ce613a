package dev.latchkey.redis;

import dev.latchkey.servers.PatientDsn;

/** As {@link PatientDsn} for the DSN of sentinels, which ends with the name of the master. */
final class PatientSentinelDsn {

    private PatientSentinelDsn() {}

    static String of(String dsn) {
        int hash = dsn.indexOf('#');
        return PatientDsn.redis(dsn.substring(0, hash)) + dsn.substring(hash);
    }
}

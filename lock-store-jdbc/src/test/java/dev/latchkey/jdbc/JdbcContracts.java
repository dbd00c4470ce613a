package dev.latchkey.jdbc;

import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SemaphoreContentionContract;
import dev.latchkey.testkit.SemaphoreCrashContract;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;

/** What the store promises on every database. */
interface JdbcContracts
        extends OneProcessContracts,
                HandoverContract,
                MultiLockContentionContract,
                LeaseCrashContract,
                SemaphoreCrashContract,
                SemaphoreContentionContract,
                ProcessContentionContract {

    /** Waiters of other processes are told nothing, and poll, but on PostgreSQL. */
    @Override
    default Duration wakeUpLimitElsewhere() {
        return TimeLimits.scaled(Duration.ofSeconds(4));
    }
}

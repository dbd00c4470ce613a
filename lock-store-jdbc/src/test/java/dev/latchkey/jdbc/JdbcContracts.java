package dev.latchkey.jdbc;

import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.MultiLockContentionContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.SemaphoreContentionContract;
import dev.latchkey.testkit.SemaphoreCrashContract;

/** What the store promises on every database. */
interface JdbcContracts
        extends OneProcessContracts,
                HandoverContract,
                MultiLockContentionContract,
                LeaseCrashContract,
                SemaphoreCrashContract,
                SemaphoreContentionContract,
                ProcessContentionContract {}

package dev.latchkey.jdbc;

import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.ProcessContentionContract;

/** What the store promises on every database. */
interface JdbcContracts extends OneProcessContracts, HandoverContract, LeaseCrashContract, ProcessContentionContract {}

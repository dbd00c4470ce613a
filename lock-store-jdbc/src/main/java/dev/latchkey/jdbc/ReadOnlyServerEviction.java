package dev.latchkey.jdbc;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.util.Set;

/**
 * Has a pool drop a connection to a server that refuses to write. After a switchover that is the primary of before, which keeps
 * its connections: the pool would lend them until they are old, though its URL leads to another server by now.
 */
final class ReadOnlyServerEviction implements SQLExceptionOverride {

    /** PostgreSQL's, of a standby or by a setting; MySQL's and MariaDB's of a transaction that is read-only. */
    private static final String STATE = "25006";

    /** MySQL's and MariaDB's for {@code read_only} and {@code super_read_only}, and MySQL's of a server in that mode. */
    private static final Set<Integer> CODES = Set.of(1290, 1836);

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException failure) {
        return STATE.equals(failure.getSQLState()) || CODES.contains(failure.getErrorCode())
                ? SQLExceptionOverride.Override.MUST_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}

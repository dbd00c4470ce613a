package dev.latchkey.postgres;

/**
 * All that is ever sent, each a whole statement in a transaction of its own. What must happen in an order is nested in
 * CASE, which alone fixes the order of evaluation.
 *
 * <p>A fencing token is the transaction id of the statement that took the lock: allotted after the grant, so greater than
 * that of any holder before. The message makes its commit wait until it is on disk: without it, ids of the last moments
 * are handed out again after a crash.
 */
final class Statements {

    /**
     * Makes a new session fit to hold locks: nothing ends it or its statements but ourselves, a dead peer soon does. Through a
     * pooler it sets nothing, for the session belongs to others.
     */
    static final String PREPARE_SESSION = prepareSession("5000");

    /** Where the server cannot see that a client closes, as on Windows, it refuses to look for that. */
    static final String PREPARE_SESSION_UNSEEN = prepareSession("0");

    private static String prepareSession(String checkMillis) {
        return """
            SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('server_version_num')::int,
                (SELECT count(set_config(s.name, v.setting, false))
                 FROM pg_settings s
                 JOIN (VALUES
                     ('search_path', 'pg_catalog'),
                     ('statement_timeout', '0'),
                     ('transaction_timeout', '0'),
                     ('lock_timeout', '0'),
                     ('idle_session_timeout', '0'),
                     ('default_transaction_read_only', 'off'),
                     ('default_transaction_isolation', 'read committed'),
                     ('tcp_keepalives_idle', '15'),
                     ('tcp_keepalives_interval', '5'),
                     ('tcp_keepalives_count', '3'),
                     ('tcp_user_timeout', '30000'),
                     ('client_connection_check_interval', '%s')) v (name, setting) USING (name)
                 WHERE pg_backend_pid() = ?)""".formatted(checkMillis);
    }

    /**
     * A token has to be on this server's disk, and nowhere else: on a standby that is promoted the timeline is greater, and
     * with it every token. So no commit of ours waits for a standby, which may be away.
     */
    static final String PREPARE_TOKENS = """
            SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint,
                set_config('synchronous_commit', 'local', false)""";

    static final String TRY_EXCLUSIVE = """
            SELECT CASE WHEN pg_try_advisory_lock(?)
                THEN CASE WHEN pg_logical_emit_message(true, 'latchkey', '') IS NOT NULL
                THEN pg_current_xact_id() END END""";

    static final String TRY_SHARED = """
            SELECT pg_try_advisory_lock_shared(?)""";

    /** Another hold of a session that shares already: the server would grant it past a waiting writer. */
    static final String JOIN_SHARED = """
            SELECT CASE WHEN EXISTS (
                    SELECT FROM pg_locks
                    WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted
                    AND classid = ((? >> 32) & 4294967295)::oid AND objid = (? & 4294967295)::oid
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                THEN false ELSE pg_try_advisory_lock_shared(?) END""";

    static final String WAIT_EXCLUSIVE = """
            SELECT CASE WHEN pg_advisory_lock(?)::text IS NOT NULL
                THEN CASE WHEN pg_logical_emit_message(true, 'latchkey', '') IS NOT NULL
                THEN pg_current_xact_id() END END""";

    static final String WAIT_SHARED = """
            SELECT pg_advisory_lock_shared(?)::text IS NOT NULL""";

    /**
     * Promotes the only one who shares. A try fails while a writer waits, though the writer waits for us: then the lock is
     * waited for, which the server grants at once to one who has it already. Should a reader get in between, it gives up.
     */
    static final String PROMOTE = """
            SELECT CASE WHEN CASE
                    WHEN pg_try_advisory_lock(?) THEN true
                    WHEN EXISTS (
                        SELECT FROM pg_locks
                        WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
                        AND classid = ((? >> 32) & 4294967295)::oid AND objid = (? & 4294967295)::oid
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                    THEN false
                    WHEN set_config('lock_timeout', '100', true) IS NOT NULL
                    THEN pg_advisory_lock(?)::text IS NOT NULL END
                THEN CASE WHEN pg_advisory_unlock_shared(?)
                THEN CASE WHEN pg_logical_emit_message(true, 'latchkey', '') IS NOT NULL
                THEN pg_current_xact_id() END END END""";

    /** Says that we wait to promote, and shares with this session as well; the second fails while a writer waits. */
    static final String PREPARE_PROMOTION = """
            SELECT CASE WHEN pg_try_advisory_lock(?)
                THEN CASE WHEN pg_try_advisory_lock_shared(?) THEN 'MOVED' ELSE 'QUEUED' END
                ELSE 'REFUSED' END""";

    /** Ends from time to time, since the session carries a shared hold: only an answer shows that it still does. */
    static final String WAIT_PROMOTION = """
            SELECT CASE WHEN CASE
                    WHEN set_config('lock_timeout', '5000', true) IS NOT NULL
                    THEN pg_advisory_lock(?)::text IS NOT NULL END
                THEN CASE WHEN pg_advisory_unlock_shared(?)
                THEN CASE WHEN pg_logical_emit_message(true, 'latchkey', '') IS NOT NULL
                THEN pg_current_xact_id() END END END""";

    /** A holder's wait for the weaker lock is granted at once, where a try fails while a writer waits. */
    static final String DEMOTE = """
            SELECT CASE WHEN pg_advisory_lock_shared(?)::text IS NOT NULL
                THEN pg_advisory_unlock(?) END""";

    static final String UNLOCK_EXCLUSIVE = """
            SELECT pg_advisory_unlock(?)""";

    static final String UNLOCK_SHARED = """
            SELECT pg_advisory_unlock_shared(?)""";

    static final String UNLOCK_ALL = """
            SELECT pg_advisory_unlock_all()""";

    static final String HOLDS = """
            SELECT EXISTS (
                SELECT FROM pg_locks
                WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid = pg_backend_pid()
                AND classid = ((? >> 32) & 4294967295)::oid AND objid = (? & 4294967295)::oid
                AND mode = CASE ? WHEN 1 THEN 'ExclusiveLock' ELSE 'ShareLock' END)""";

    /** Whether another session of ours that has ended here holds the lock as long as the server has not noticed. */
    static final String IS_HELD_BY = """
            SELECT EXISTS (
                SELECT FROM pg_locks
                WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid = ?
                AND classid = ((? >> 32) & 4294967295)::oid AND objid = (? & 4294967295)::oid)""";

    static final String IS_THERE = """
            SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = ?)""";

    static final String HOLDERS = """
            SELECT l.mode = 'ExclusiveLock', l.pid, coalesce(a.application_name, ''), coalesce(host(a.client_addr), '')
            FROM pg_locks l
            LEFT JOIN pg_stat_activity a ON a.pid = l.pid
            WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
            AND l.classid = ((? >> 32) & 4294967295)::oid AND l.objid = (? & 4294967295)::oid
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())""";

    static final String TRANSACTION_EXCLUSIVE = """
            SELECT pg_catalog.pg_advisory_xact_lock(?)""";

    static final String TRANSACTION_SHARED = """
            SELECT pg_catalog.pg_advisory_xact_lock_shared(?)""";

    static final String TRANSACTION_TRY_EXCLUSIVE = """
            SELECT pg_catalog.pg_try_advisory_xact_lock(?)""";

    static final String TRANSACTION_TRY_SHARED = """
            SELECT pg_catalog.pg_try_advisory_xact_lock_shared(?)""";

    private Statements() {}
}

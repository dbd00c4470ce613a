package dev.latchkey.mysql;

/** All that is ever sent, each a whole statement in a transaction of its own. */
final class Statements {

    /** What shows whether locks of this session exclude anybody; sets nothing, for the session may belong to others. */
    static final String INSPECT_SESSION = """
            SELECT CONNECTION_ID(), @@global.read_only""";

    /** Galera's nodes know nothing of each other's locks; other servers have no such variable. */
    static final String INSPECT_GALERA = """
            SHOW VARIABLES LIKE 'wsrep_on'""";

    /**
     * Nothing ends a statement of ours but ourselves, and the server frees the locks of a client of which it has heard nothing
     * for {@link Session#SILENCE_SECONDS}: while it holds something, it is heard several times a second.
     */
    static final String PREPARE_SESSION = """
            SET SESSION wait_timeout = 30 /*M!100101 , max_statement_time = 0 */ /*!50708 , max_execution_time = 0 */""";

    static final String RELEASE_ALL = """
            SELECT RELEASE_ALL_LOCKS()""";

    static final String TRY = """
            SELECT GET_LOCK(?, 0)""";

    /** The time is a whole number: MySQL rounds anything else, also to nothing. */
    private static final String WAIT = """
            SELECT GET_LOCK(?, ?) /* %s */""";

    static final String RELEASE = """
            SELECT RELEASE_LOCK(?)""";

    static final String HOLDS = """
            SELECT IS_USED_LOCK(?) = CONNECTION_ID()""";

    /** Whether a session of ours that has ended here holds the lock as long as the server has not noticed. */
    static final String IS_HELD_BY = """
            SELECT IS_USED_LOCK(?) = ?""";

    static final String IS_THERE = """
            SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?""";

    /**
     * Whether the wait that is to be cancelled is what this server's connection of that number does. After a failover, the
     * number may be somebody else's, also of one who waits for the same lock, or of the session that asks.
     */
    static final String IS_WAITING = """
            SELECT COUNT(*) FROM information_schema.processlist
            WHERE id = ? AND id <> CONNECTION_ID() AND LOCATE(?, info) > 0""";

    static final String CANCEL = """
            KILL QUERY ?""";

    static final String HOLDER = """
            SELECT l.id, COALESCE(p.user, ''), COALESCE(p.host, '')
            FROM (SELECT IS_USED_LOCK(?) AS id) l
            LEFT JOIN information_schema.processlist p ON p.id = l.id
            WHERE l.id IS NOT NULL""";

    private Statements() {}

    /**
     * The statement that waits.
     *
     * @param mark tells it from all others, in the server's list of what runs
     */
    static String awaiting(String mark) {
        return WAIT.formatted(mark);
    }
}

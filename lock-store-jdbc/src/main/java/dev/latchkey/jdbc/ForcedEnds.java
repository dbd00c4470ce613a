package dev.latchkey.jdbc;

import dev.latchkey.spi.KeptHolds;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sticky holds that were ended by force, as messages say. A message may be about the table of another schema that has the same
 * name, and so the same channel: the row tells. One that could not be read is read on the next connection, and then given up. For
 * one thread at a time.
 */
final class ForcedEnds {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final Database database;
    private final KeptHolds kept;
    private final Deque<StickyStatements.ForcedEnd> unread = new ArrayDeque<>();

    /** The one that could not be read before. */
    private StickyStatements.@Nullable ForcedEnd failed;

    ForcedEnds(Database database, KeptHolds kept) {
        this.database = database;
        this.kept = kept;
    }

    void add(StickyStatements.ForcedEnd end) {
        unread.add(end);
    }

    /** Tells the holders of those whose rows show it. */
    void read(Connection connection) throws SQLException {
        while (!unread.isEmpty()) {
            StickyStatements.ForcedEnd end = unread.remove();
            try {
                tell(end, connection);
            } catch (SQLException | RuntimeException e) {
                if (end.equals(failed)) {
                    log.warn(
                            "lock.force_release_unread resource={}: its holder in this process learns of it by its next request",
                            end.resource());
                } else {
                    failed = end;
                    unread.addFirst(end);
                }
                throw e;
            }
        }
    }

    private void tell(StickyStatements.ForcedEnd end, Connection connection) throws SQLException {
        Row row = Connections.use(
                connection, own -> database.statements(end.resource()).read(own, end.resource()));
        kept.forced(end.resource(), end.fencingToken(), row.writer().map(Row.Writer::token));
    }
}

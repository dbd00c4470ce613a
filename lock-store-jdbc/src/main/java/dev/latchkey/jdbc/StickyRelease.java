package dev.latchkey.jdbc;

import dev.latchkey.Key;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Releases a sticky hold; true if the key was a holder. It claims the fencing token that was used last. Done twice, it answers
 * the same as long as nobody else has acquired: nobody else leaves that token behind. After that it is not known which of the two
 * has ended the hold, so it fails as the first did. For one call.
 */
final class StickyRelease implements Database.Work<Boolean> {

    private final Key key;
    private final Pruning pruning;
    private @Nullable SQLException unanswered;

    StickyRelease(Key key, Pruning pruning) {
        this.key = key;
        this.pruning = pruning;
    }

    @Override
    public @Nullable Boolean on(Connection connection, Statements statements) throws SQLException {
        try {
            Boolean wasHolder = release(connection, statements);
            if (Boolean.FALSE.equals(wasHolder) && unanswered != null) {
                throw unanswered;
            }
            return wasHolder;
        } catch (SQLException e) {
            unanswered = e;
            throw e;
        }
    }

    private @Nullable Boolean release(Connection connection, Statements statements) throws SQLException {
        OptionalLong claim = HoldWork.exclusiveClaim(key);
        if (claim.isEmpty()) {
            return HoldWork.delete(key, pruning).on(connection, statements);
        }
        String name = ResourceName.of(key.resource());
        long used = claim.getAsLong();
        Boolean wasHolder = statements.ofSticky().release(connection, name, key.token(), used)
                ? Boolean.TRUE
                : statements.change(connection, name, row -> Rules.deleteSticky(row, key, used));
        pruning.ifDue(connection, statements);
        return wasHolder;
    }
}

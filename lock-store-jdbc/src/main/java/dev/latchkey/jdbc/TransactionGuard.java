package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** Puts "still mine" into a transaction of the caller. */
record TransactionGuard(Database database) {

    void check(Connection connection, Key key) {
        String resource = key.resource();
        long fencingToken = HoldWork.exclusiveClaim(key)
                .orElseThrow(() -> new IllegalArgumentException(
                        "the key claims no exclusive hold: take it from the lock that holds, with key()"));
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalArgumentException("the connection is in autocommit mode: the guard would end at once");
            }
            check(connection, key, fencingToken);
        } catch (SQLException e) {
            throw Failures.failure(resource, e);
        }
    }

    private void check(Connection connection, Key key, long fencingToken) throws SQLException {
        Statements statements = database.statements(key.resource());
        String name = ResourceName.of(key.resource());
        Map<String, Object> values = Map.of("resource", name, "token", key.token(), "fencing_token", fencingToken);
        if (!statements.guard(connection, values)) {
            boolean taken = statements
                    .read(connection, name)
                    .liveWriter()
                    .filter(one -> !one.token().equals(key.token()))
                    .isPresent();
            throw new LockLostException(
                    key.resource(),
                    "the transaction must be rolled back: the key no longer holds it",
                    taken ? LossReason.TAKEN_OVER : LossReason.EXPIRED);
        }
    }
}

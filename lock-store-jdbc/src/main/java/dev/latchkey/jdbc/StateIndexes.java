package dev.latchkey.jdbc;

import dev.latchkey.jdbc.Database.Repeat;
import dev.latchkey.spi.StateIndex;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** With which change resources were last given up, in a table of its own: its rows are never pruned. */
final class StateIndexes {

    static final String RAISE = """
            UPDATE latchkey_index
            SET exclusive_index = CASE WHEN exclusive_index < :exclusive THEN :exclusive ELSE exclusive_index END,
                shared_index = CASE WHEN shared_index < :shared THEN :shared ELSE shared_index END
            WHERE resource = :resource""";

    static final String INSERT = """
            INSERT INTO latchkey_index (resource, exclusive_index, shared_index)
            VALUES (:resource, :exclusive, :shared)""";

    static final String READ =
            "SELECT resource, exclusive_index, shared_index FROM latchkey_index WHERE resource IN (%s)";

    private final Database database;
    private final Schema.Owner owner;
    private final AtomicReference<@Nullable Statements> createdFor = new AtomicReference<>();

    StateIndexes(Database database, Schema.Owner owner) {
        this.database = database;
        this.owner = owner;
    }

    Map<String, StateIndex> read(Collection<String> resources) {
        if (resources.isEmpty()) {
            return Map.of();
        }
        return database.call(
                resources.iterator().next(),
                Repeat.HARMLESS,
                (connection, statements) -> read(connection, statements, resources));
    }

    Map<String, StateIndex> read(Connection connection, Statements statements, Collection<String> resources)
            throws SQLException {
        createIfNew(connection, statements);
        Map<String, String> names = new HashMap<>();
        resources.forEach(resource -> names.put(ResourceName.of(resource), resource));
        Map<String, StateIndex> found = new HashMap<>();
        for (InList part : InList.parts(names.keySet())) {
            try (PreparedStatement prepared = part.prepare(READ, statements.dialect(), table(statements), connection);
                    ResultSet rows = prepared.executeQuery()) {
                while (rows.next()) {
                    found.put(names.get(rows.getString(1)), new StateIndex(rows.getLong(2), rows.getLong(3)));
                }
            }
        }
        return found;
    }

    void raise(Map<String, StateIndex> raised) {
        if (raised.isEmpty()) {
            return;
        }
        // In one order everywhere, so that no two transactions lock rows crosswise.
        Map<String, StateIndex> ordered = new TreeMap<>();
        raised.forEach((resource, index) -> ordered.put(ResourceName.of(resource), index));
        // Which rows were found to be there: they have these indexes already if a driver counts none of them as
        // changed.
        Set<String> there = new HashSet<>();
        boolean unused = database.call(raised.keySet(), Repeat.HARMLESS, (connection, statements) -> {
            createIfNew(connection, statements);
            return raise(connection, statements, ordered, there);
        });
    }

    /** Empty hands (null): somebody else has inserted one of the rows first. */
    private @Nullable Boolean raise(
            Connection connection, Statements statements, Map<String, StateIndex> ordered, Set<String> there)
            throws SQLException {
        Sql raise = Sql.of(RAISE, statements.dialect(), table(statements));
        Sql insert = Sql.of(INSERT, statements.dialect(), table(statements));
        List<String> inserted = new ArrayList<>();
        try {
            return Transaction.run(connection, () -> {
                for (Map.Entry<String, StateIndex> one : ordered.entrySet()) {
                    Map<String, Object> values = Map.of(
                            "resource", one.getKey(),
                            "exclusive", one.getValue().exclusive(),
                            "shared", one.getValue().shared());
                    if (raise.count(connection, values) == 0 && !there.contains(one.getKey())) {
                        inserted.add(one.getKey());
                        insert.count(connection, values);
                    }
                }
                return true;
            });
        } catch (SQLException e) {
            boolean isThere = !inserted.isEmpty()
                    && !Failures.isBroken(e)
                    && isThere(connection, statements, inserted.get(inserted.size() - 1));
            if (isThere) {
                there.add(inserted.get(inserted.size() - 1));
                return null;
            }
            throw e;
        }
    }

    private boolean isThere(Connection connection, Statements statements, String name) throws SQLException {
        try (PreparedStatement prepared =
                        new InList(List.of(name)).prepare(READ, statements.dialect(), table(statements), connection);
                ResultSet row = prepared.executeQuery()) {
            return row.next();
        }
    }

    private static TableName table(Statements statements) {
        return statements.table().ofIndexes();
    }

    /** Only who keeps indexes gets the table. */
    private void createIfNew(Connection connection, Statements statements) throws SQLException {
        if (createdFor.get() == statements) {
            return;
        }
        if (owner == Schema.Owner.STORE) {
            database.create(connection, Schema.ofIndexes(statements.dialect(), table(statements)));
        }
        createdFor.set(statements);
    }
}

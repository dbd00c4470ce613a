package dev.latchkey.jdbc;

import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ResourcePage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lists what is held in the order of the key of the table. The prefix is compared here, since the database has only a hash of
 * some names, and may take other letters for the same.
 */
final class Listing implements Database.Work<ResourcePage> {

    private static final int ROWS = 1_000;

    private static final String HELD = """
            SELECT resource, token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                   waited, version
            FROM latchkey_lock
            WHERE (expires_at > :now OR readers_until > :now)""";

    private final String prefix;
    private final Optional<String> after;
    private final int limit;

    Listing(String prefix, Optional<String> after, int limit) {
        this.prefix = prefix;
        this.after = after;
        this.limit = limit;
    }

    @Override
    public ResourcePage on(Connection connection, Statements statements) throws SQLException {
        long now = statements.read(connection, ResourceName.of(prefix)).now();
        List<ListedResource> listed = new ArrayList<>();
        Optional<String> last = after;
        int most = prefix.isEmpty() ? limit : ROWS;
        while (true) {
            List<Entry> rows = rows(connection, statements, last, now, most);
            for (Entry entry : rows) {
                last = Optional.of(entry.key());
                entry.listed(prefix).ifPresent(listed::add);
                if (listed.size() == limit) {
                    return new ResourcePage(listed, last);
                }
            }
            if (rows.size() < most) {
                return new ResourcePage(listed, Optional.empty());
            }
        }
    }

    private List<Entry> rows(Connection connection, Statements statements, Optional<String> last, long now, int most)
            throws SQLException {
        Map<String, Object> values = new HashMap<>(Map.of("now", now));
        last.ifPresent(key -> values.put("after", key));
        Sql select = Sql.of(rowsAfter(last, statements.dialect()), statements.dialect(), statements.table());
        try (PreparedStatement prepared = select.prepare(connection, values)) {
            prepared.setMaxRows(most);
            prepared.setFetchSize(most);
            List<Entry> rows = new ArrayList<>();
            try (ResultSet some = prepared.executeQuery()) {
                while (some.next()) {
                    rows.add(new Entry(some.getString("resource"), Row.read(some, now)));
                }
            }
            return rows;
        }
    }

    /** In an order of the dialect, for comparing and sorting alike: else a page could begin before the last one has ended. */
    static String rowsAfter(Optional<String> last, Dialect dialect) {
        String order = " ORDER BY " + dialect.ordered("resource");
        return last.isPresent()
                ? HELD + " AND " + dialect.ordered("resource") + " > " + dialect.ordered(":after") + order
                : HELD + order;
    }

    private record Entry(String key, Row row) {

        Optional<ListedResource> listed(String prefix) {
            if (PermitHold.isRowName(key)) {
                return Optional.empty();
            }
            List<Holder> holders = row.holders();
            String name = row.resource().orElse(key);
            return holders.isEmpty() || !name.startsWith(prefix)
                    ? Optional.empty()
                    : Optional.of(new ListedResource(name, holders, Optional.empty()));
        }
    }
}

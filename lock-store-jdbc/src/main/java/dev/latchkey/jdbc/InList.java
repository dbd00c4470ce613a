package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** Some of many values that are looked up together: no database likes any number of parameters. */
record InList(List<String> values) {

    private static final int MOST = 100;

    static List<InList> parts(Collection<String> all) {
        List<String> values = List.copyOf(all);
        List<InList> parts = new ArrayList<>();
        for (int from = 0; from < values.size(); from += MOST) {
            parts.add(new InList(values.subList(from, Math.min(values.size(), from + MOST))));
        }
        return parts;
    }

    /** Prepares a statement with one {@code %s} for the parameters. */
    PreparedStatement prepare(String statement, Dialect dialect, TableName table, Connection connection)
            throws SQLException {
        String parameters = String.join(", ", Collections.nCopies(values.size(), "?"));
        Sql sql = Sql.of(statement.replace("%s", parameters), dialect, table);
        PreparedStatement prepared = connection.prepareStatement(sql.text());
        try {
            for (int i = 0; i < values.size(); i++) {
                prepared.setString(i + 1, values.get(i));
            }
            return prepared;
        } catch (SQLException | RuntimeException e) {
            prepared.close();
            throw e;
        }
    }
}

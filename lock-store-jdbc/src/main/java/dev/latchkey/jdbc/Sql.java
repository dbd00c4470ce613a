package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A whole statement, in which {@code :name} stands for a value, as the driver takes it. */
record Sql(String text, List<String> names) {

    static final String TABLE = "latchkey_lock";
    static final String FENCE_TABLE = "latchkey_fence";
    static final String INDEX_TABLE = "latchkey_index";

    private static final Pattern NAME = Pattern.compile(":([a-z_]+)");
    private static final Pattern DEFAULT_TABLE =
            Pattern.compile("\\b(" + TABLE + "|" + FENCE_TABLE + "|" + INDEX_TABLE + ")\\b");

    /** Reads a statement that is written for the table of the default name. */
    static Sql of(String statement, Dialect dialect, TableName table) {
        List<String> names = new ArrayList<>();
        Matcher matcher = NAME.matcher(dialect.adapt(statement));
        String text = matcher.replaceAll(found -> {
            names.add(found.group(1));
            return "?";
        });
        return new Sql(named(text, table), List.copyOf(names));
    }

    static String named(String statement, TableName table) {
        return DEFAULT_TABLE.matcher(statement).replaceAll(Matcher.quoteReplacement(table.qualified()));
    }

    PreparedStatement prepare(Connection connection, Map<String, ?> values) throws SQLException {
        return bind(connection.prepareStatement(text), values);
    }

    PreparedStatement prepare(Connection connection, Map<String, ?> values, String returnedColumn) throws SQLException {
        return bind(connection.prepareStatement(text, new String[] {returnedColumn}), values);
    }

    PreparedStatement prepare(Connection connection, Map<String, ?> values, int generatedKeys) throws SQLException {
        return bind(connection.prepareStatement(text, generatedKeys), values);
    }

    /** Runs it, and returns how many rows it changed: those it answers with, where it answers with rows. */
    int count(Connection connection, Map<String, ?> values) throws SQLException {
        try (PreparedStatement statement = prepare(connection, values)) {
            if (!statement.execute()) {
                return statement.getUpdateCount();
            }
            int rows = 0;
            try (ResultSet changed = statement.getResultSet()) {
                while (changed.next()) {
                    rows++;
                }
            }
            return rows;
        }
    }

    private PreparedStatement bind(PreparedStatement statement, Map<String, ?> values) throws SQLException {
        try {
            for (int i = 0; i < names.size(); i++) {
                Object value = values.get(names.get(i));
                if (value instanceof Long number) {
                    statement.setLong(i + 1, number);
                } else if (value instanceof String string) {
                    statement.setString(i + 1, string);
                } else {
                    throw new IllegalStateException("no value for :" + names.get(i));
                }
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }
}

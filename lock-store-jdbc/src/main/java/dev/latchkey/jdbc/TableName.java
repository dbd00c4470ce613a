package dev.latchkey.jdbc;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where the rows are: a name that cannot be anything but a name, since it becomes part of statements.
 *
 * @param schema as the application names it
 * @param place the schema or database where the store has found a table without a schema, quoted by the database
 */
record TableName(Optional<String> schema, String table, Optional<String> place) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,53}");

    TableName(Optional<String> schema, String table) {
        this(schema, table, Optional.empty());
    }

    TableName {
        schema.ifPresent(name -> check("schema", name));
        check("table", table);
    }

    private static void check(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("\"" + name + "\" cannot be the name of a " + what
                    + ": it must be a letter or _, then up to 47 more letters, digits or _");
        }
    }

    /** Beside it, where state indexes are. */
    TableName ofIndexes() {
        return new TableName(schema, table + "_index", place);
    }

    /** The same table for every connection, wherever it looks for tables. */
    TableName in(Optional<String> found) {
        return new TableName(schema, table, found);
    }

    /** Whether which table it is depends on the connection. */
    boolean isLookedUp() {
        return schema.isEmpty() && place.isEmpty();
    }

    /** Where PostgreSQL tells of its rows: it takes an unquoted table name in lower case, and the name of a channel as it stands. */
    String channel() {
        return table.toLowerCase(Locale.ROOT);
    }

    /** As it stands in a statement. */
    String qualified() {
        return place.or(() -> schema).map(name -> name + ".").orElse("") + table;
    }
}

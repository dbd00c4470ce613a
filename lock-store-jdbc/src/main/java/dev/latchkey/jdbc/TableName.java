package dev.latchkey.jdbc;

import java.util.Optional;
import java.util.regex.Pattern;

/** Where the rows are: a name that cannot be anything but a name, since it becomes part of statements. */
record TableName(Optional<String> schema, String table) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,53}");

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
        return new TableName(schema, table + "_index");
    }

    /** As it stands in a statement. */
    String qualified() {
        return schema.map(name -> name + ".").orElse("") + table;
    }
}

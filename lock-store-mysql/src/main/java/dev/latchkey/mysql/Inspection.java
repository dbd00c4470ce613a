package dev.latchkey.mysql;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Who holds one lock: one who is here by what we know, any other by what the server shows. */
final class Inspection {

    private Inspection() {}

    static List<Holder> holders(LockEntry entry, Sessions sessions) throws SQLException {
        Hold hold = entry.hold();
        if (hold != null) {
            return List.of(holder("this process, connection " + hold.session().id()));
        }
        return sessions.shared()
                .ask(
                        Statements.HOLDER,
                        rows -> rows.next() ? List.of(holder(description(rows))) : List.of(),
                        entry.name().value());
    }

    private static String description(ResultSet row) throws SQLException {
        String user = row.getString(2);
        String host = row.getString(3);
        return "connection " + row.getLong(1)
                + (user.isEmpty() ? "" : ", user " + user)
                + (host.isEmpty() ? "" : ", from " + host);
    }

    private static Holder holder(String description) {
        return new Holder(LockMode.EXCLUSIVE, OptionalLong.empty(), Optional.empty(), Optional.of(description));
    }
}

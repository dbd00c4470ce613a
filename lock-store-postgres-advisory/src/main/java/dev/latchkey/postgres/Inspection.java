package dev.latchkey.postgres;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/** Who holds one advisory lock: those here by what we know, all others by what the server shows. */
final class Inspection {

    private Inspection() {}

    static List<Holder> holders(LockId id, Holds holds, Sessions sessions) throws SQLException {
        List<Holder> all = new ArrayList<>();
        holds.removeDead();
        for (Hold hold : holds.all()) {
            all.add(new Holder(
                    hold.mode(),
                    hold.fencingToken(),
                    Optional.empty(),
                    Optional.of("this process, server process " + hold.session().pid())));
        }
        // The number of one that has ended may be another's by now.
        Set<Integer> ours = sessions.open().stream()
                .filter(session -> !session.isEnded())
                .map(Session::pid)
                .collect(Collectors.toSet());
        sessions.shared().askForRows(Statements.HOLDERS, rows -> addOthers(all, ours, rows), id.hold(), id.hold());
        return List.copyOf(all);
    }

    private static boolean addOthers(List<Holder> all, Set<Integer> ours, ResultSet rows) throws SQLException {
        boolean added = false;
        while (rows.next()) {
            added |= !ours.contains(rows.getInt(2)) && all.add(other(rows));
        }
        return added;
    }

    private static Holder other(ResultSet row) throws SQLException {
        String application = row.getString(3);
        String host = row.getString(4);
        return new Holder(
                row.getBoolean(1) ? LockMode.EXCLUSIVE : LockMode.SHARED,
                OptionalLong.empty(),
                Optional.empty(),
                Optional.of("server process " + row.getInt(2)
                        + (application.isEmpty() ? "" : ", application " + application)
                        + (host.isEmpty() ? "" : ", from " + host)));
    }
}

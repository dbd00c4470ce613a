package dev.latchkey.jdbc;

import dev.latchkey.LockException;
import dev.latchkey.spi.Wakeups;
import java.sql.SQLException;
import java.util.Optional;

/** Hears of releases on one connection. */
record Listener(Database database, String channel) implements Wakeups.Source {

    @Override
    public Optional<String> listen(Wakeups wakeups) {
        try (Announcements announcements = new Announcements(database.connect(""), channel)) {
            wakeups.listening();
            while (wakeups.isWanted()) {
                announcements.await().forEach(wakeups::wake);
            }
            return Optional.empty();
        } catch (SQLException | LockException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}

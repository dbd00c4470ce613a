package dev.latchkey.postgres;

import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** The rooms of those who hold or wait, by advisory lock; empty ones are given up. */
final class Rooms {

    private final Map<Long, Room> rooms = new ConcurrentHashMap<>();
    private final Sessions sessions;
    private final Executor threads;

    Rooms(Sessions sessions, Executor threads) {
        this.sessions = sessions;
        this.threads = threads;
    }

    /** What is done in a room. */
    @FunctionalInterface
    interface Work<T> {
        T with(Room room) throws SQLException;
    }

    /** What is done in a room, and may take long. */
    @FunctionalInterface
    interface Wait<T> {
        T with(Room room) throws SQLException, InterruptedException;
    }

    <T> T in(String resource, Work<T> work) throws SQLException {
        Room room = enter(resource);
        try {
            return work.with(room);
        } finally {
            leave(room);
        }
    }

    <T> T waitIn(String resource, Wait<T> wait) throws SQLException, InterruptedException {
        Room room = enter(resource);
        try {
            return wait.with(room);
        } finally {
            leave(room);
        }
    }

    private Room enter(String resource) {
        LockId id = LockId.of(resource);
        Room room;
        do {
            room = rooms.computeIfAbsent(id.hold(), number -> new Room(id, sessions, threads));
        } while (!room.enter());
        return room;
    }

    private void leave(Room room) {
        if (room.leave()) {
            rooms.remove(room.id().hold(), room);
        }
    }

    /** Forgets holds whose session has ended: their holders may never come back to release them. */
    void removeDead() {
        for (Room room : rooms.values()) {
            if (room.enter()) {
                room.holds().removeDead();
                leave(room);
            }
        }
    }

    /** How many advisory locks are held or waited for here. */
    int size() {
        return rooms.size();
    }
}

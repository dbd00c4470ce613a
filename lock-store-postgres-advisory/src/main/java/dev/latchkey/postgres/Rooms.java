package dev.latchkey.postgres;

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

    /** Enters the room of a lock; to be left with {@link #leave}. */
    Room enter(LockId id) {
        Room room;
        do {
            room = rooms.computeIfAbsent(id.hold(), number -> new Room(id, sessions, threads));
        } while (!room.enter());
        return room;
    }

    void leave(LockId id, Room room) {
        if (room.leave()) {
            rooms.remove(id.hold(), room);
        }
    }

    /** Forgets holds whose session has ended: their holders may never come back to release them. */
    void removeDead() {
        rooms.forEach((number, room) -> {
            if (room.enter()) {
                room.holds().removeDead();
                if (room.leave()) {
                    rooms.remove(number, room);
                }
            }
        });
    }

    /** How many advisory locks are held or waited for here. */
    int size() {
        return rooms.size();
    }
}

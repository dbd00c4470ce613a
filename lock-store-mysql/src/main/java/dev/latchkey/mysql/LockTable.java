package dev.latchkey.mysql;

import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** The rooms of those who hold or wait, by the name of the lock; empty ones are given up. */
final class LockTable {

    private final Map<LockName, LockEntry> rooms = new ConcurrentHashMap<>();
    private final Sessions sessions;
    private final Executor threads;

    LockTable(Sessions sessions, Executor threads) {
        this.sessions = sessions;
        this.threads = threads;
    }

    /** What is done in a room. */
    @FunctionalInterface
    interface Work<T> {
        T with(LockEntry room) throws SQLException;
    }

    /** What is done in a room, and may take long. */
    @FunctionalInterface
    interface Wait<T> {
        T with(LockEntry room) throws SQLException, InterruptedException;
    }

    <T> T in(String resource, Work<T> work) throws SQLException {
        LockEntry room = enter(resource);
        try {
            return work.with(room);
        } finally {
            leave(room);
        }
    }

    <T> T waitIn(String resource, Wait<T> wait) throws SQLException, InterruptedException {
        LockEntry room = enter(resource);
        try {
            return wait.with(room);
        } finally {
            leave(room);
        }
    }

    private LockEntry enter(String resource) {
        LockName name = LockName.of(resource);
        LockEntry room;
        do {
            room = rooms.computeIfAbsent(name, free -> new LockEntry(free, sessions, threads));
        } while (!room.enter());
        return room;
    }

    private void leave(LockEntry room) {
        if (room.leave()) {
            rooms.remove(room.name(), room);
        }
    }

    /** Forgets holds whose session has ended: their holders may never come back to release them. Tells those whose wait has. */
    void removeDead() {
        for (LockEntry room : rooms.values()) {
            if (room.enter()) {
                room.removeDead();
                leave(room);
            }
        }
    }

    /** How many locks are held or waited for here. */
    int size() {
        return rooms.size();
    }
}

package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * Writes down what happens, a line for each event, for {@link History} to read. Each line is one system call, so that a killed
 * process leaves all it did. Times are {@link System#nanoTime()}, which on Linux is the same clock in all processes of a
 * machine; {@link WorkerProcess} makes sure of that. Thread-safe.
 */
final class EventLog implements AutoCloseable {

    enum Event {
        ASKED,
        GRANTED,
        REFUSED,
        INTERRUPTED,
        LATE,
        FAILED,
        KEPT,
        CHANGING,
        CHANGED,
        TRANSFERRED,
        RECEIVED,
        NOT_RECEIVED,
        ENDED,
        RELEASED,
        LOST,
        STALLED,
        ACCESS,
        STRUCK,
        OVER,
        HEALED,
        VIOLATED,
        COMPARED
    }

    /** In place of a number that is not there: no token, no end that a clock knows. */
    static final String NONE = "-";

    // Not a channel: an interrupt would close it.
    private final FileOutputStream file;

    EventLog(Path path) {
        try {
            file = new FileOutputStream(path.toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a log of events", e);
        }
    }

    /** An actor begins to wait. */
    void asked(String actor, String resource, LockMode mode, long at, Duration maxWait) {
        write(Event.ASKED, actor, resource, mode, at, maxWait.toNanos());
    }

    /** Its wait ends with a hold, which it believes in until a time, or for no certain time. */
    void granted(String actor, String hold, OptionalLong token, long at, OptionalLong until) {
        write(Event.GRANTED, actor, hold, orNone(token), at, orNone(until));
    }

    /** Its wait ends without one, as somebody else had it all the time. */
    void refused(String actor, long at) {
        write(Event.REFUSED, actor, at);
    }

    /** Its wait ends without one, as its thread was interrupted. */
    void interrupted(String actor, long at) {
        write(Event.INTERRUPTED, actor, at);
    }

    /** Its wait ends with a hold that was over when the answer came, as is to be expected of a short one. */
    void late(String actor, long at) {
        write(Event.LATE, actor, at);
    }

    /** Its wait ends by a failure of the store, or with a hold that was over when the answer came though it was to last. */
    void failed(String actor, long at, String why) {
        write(Event.FAILED, actor, at, why.replace('\n', ' '));
    }

    /** The hold goes on at a time, and ends at another if nothing more is said; the store was last asked before. */
    void kept(String hold, long asked, long at, OptionalLong until) {
        write(Event.KEPT, hold, asked, at, orNone(until));
    }

    /** The store is about to be asked to promote a hold, or to demote it; or a wait for that has ended. */
    void changing(String hold, long at) {
        write(Event.CHANGING, hold, at);
    }

    /** The store did: the hold goes on in another mode, under another name. */
    void changed(Change change, OptionalLong token, long asked, long at, OptionalLong until) {
        write(Event.CHANGED, change.hold(), change.next(), change.mode(), orNone(token), asked, at, orNone(until));
    }

    /** The key of a hold was given to another process; its holder believes in nothing from a time on. */
    void transferred(String hold, long at) {
        write(Event.TRANSFERRED, hold, at);
    }

    /** Who was given the key of a hold has asked the store, and found it held: it goes on under another name. */
    void received(Change change, String resource, OptionalLong token, long asked, long at, OptionalLong until) {
        write(
                Event.RECEIVED,
                change.hold(),
                change.next(),
                resource,
                change.mode(),
                orNone(token),
                asked,
                at,
                orNone(until));
    }

    /** Who was given the key of a hold has asked the store, and was told that it is not held. */
    void notReceived(String hold, long at) {
        write(Event.NOT_RECEIVED, hold, at);
    }

    /**
     * A hold that is promoted or demoted, or whose key is given away.
     *
     * @param hold its name before
     * @param next its name afterwards
     * @param mode afterwards
     */
    record Change(String hold, String next, LockMode mode) {}

    /** The hold is given up: at a time before the release was sent. */
    void ended(String hold, long at) {
        write(Event.ENDED, hold, at);
    }

    /** The store has answered a release: whether the hold was still there, as it says. */
    void released(String hold, long at, boolean wasHeld) {
        write(Event.RELEASED, hold, at, wasHeld);
    }

    /** A process, or the whole machine, did not get on for a while that is too long for judging how fast it is. */
    void stalled(String process, long from, long until) {
        synchronized (file) {
            // Who watches the machine goes on a little longer than what it watches.
            if (isOpen()) {
                write(Event.STALLED, process, from, until);
            }
        }
    }

    /** The holder was told that the hold is over. */
    void lost(String hold, long at) {
        write(Event.LOST, hold, at);
    }

    /**
     * Somebody came to the register.
     *
     * @param at when
     * @param verb {@code read} or {@code write}
     * @param resource of which register
     * @param hold under which hold
     * @param token of that
     * @param answer {@code accepted} or {@code refused}
     * @param base the value that the writer has read before
     * @param found the value there
     */
    void access(
            long at,
            String verb,
            String resource,
            String hold,
            OptionalLong token,
            String answer,
            long base,
            long found) {
        write(Event.ACCESS, at, verb, resource, hold, orNone(token), answer, base, found);
    }

    /** A fault begins to strike a process, the processes of a place, or all (*). */
    void struck(int fault, FaultKind kind, String target, long at) {
        write(Event.STRUCK, fault, kind, target, at);
    }

    /** Its damage is done. */
    void over(int fault, long at) {
        write(Event.OVER, fault, at);
    }

    /** All is as it was before it. */
    void healed(int fault, long at) {
        write(Event.HEALED, fault, at);
    }

    /** Somebody has seen, just now, what a rule excludes. */
    void violated(Rule rule, String what) {
        write(Event.VIOLATED, rule, System.nanoTime(), what.replace('\n', ' '));
    }

    /** Somebody has looked whether a rule is violated, so many times. */
    void compared(Rule rule, long times) {
        write(Event.COMPARED, rule, times);
    }

    boolean isOpen() {
        return file.getChannel().isOpen();
    }

    private static Object orNone(OptionalLong number) {
        return number.isPresent() ? number.getAsLong() : NONE;
    }

    private void write(Event event, Object... words) {
        StringBuilder line = new StringBuilder(event.name().toLowerCase(Locale.ROOT));
        for (Object word : words) {
            line.append(' ').append(word);
        }
        try {
            file.write(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("could not write a log of events", e);
        }
    }

    @Override
    public void close() {
        try {
            synchronized (file) {
                file.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not close a log of events", e);
        }
    }
}

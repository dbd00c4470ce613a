package dev.latchkey.console;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** What a page is told, as JSON. The larger part of its bytes is the same for all that are told the same. Immutable. */
public final class Message {

    /** What a page is told of. */
    public enum Kind {
        /** Everything that is held. */
        ALL,
        /** What has changed since the version before. */
        CHANGE,
        /** The store has failed. */
        TROUBLE,
        /** The store has not answered for some time. */
        SLOW,
        /** Nothing has changed. */
        SAME;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The server of the JDK copies what is written in one call, for each of its clients. */
    private static final int WRITTEN_AT_ONCE = 16 * 1024;

    private final Kind kind;
    private final byte[] head;
    private final byte[] rest;

    /**
     * Creates a message.
     *
     * @param version what a page sends when it asks for what has changed since
     * @param now the time on the clock of the feed
     * @param rest the other members, a comma before each, and the brace at the end; shared, and changed by nobody
     */
    Message(Kind kind, String version, long now, byte[] rest) {
        this.kind = kind;
        String json = new Json()
                .put("event", kind.word())
                .put("version", version)
                .put("now", (Long) now)
                .toString();
        head = json.substring(0, json.length() - 1).getBytes(StandardCharsets.UTF_8);
        this.rest = rest;
    }

    /**
     * Returns what it tells of.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the name of its event.
     *
     * @return as {@code event} of the JSON
     */
    public String event() {
        return kind.word();
    }

    /**
     * Counts the bytes of its JSON.
     *
     * @return how many
     */
    public long length() {
        return (long) head.length + rest.length;
    }

    /**
     * Opens its JSON, which is on one line.
     *
     * @return UTF-8
     */
    public InputStream json() {
        return new SequenceInputStream(new ByteArrayInputStream(head), new ByteArrayInputStream(rest));
    }

    /**
     * Writes its JSON, which is on one line, bit by bit.
     *
     * @param out where to write it, as UTF-8
     * @throws IOException if it cannot be written
     */
    public void writeTo(OutputStream out) throws IOException {
        out.write(head);
        for (int at = 0; at < rest.length; at += WRITTEN_AT_ONCE) {
            out.write(rest, at, Math.min(WRITTEN_AT_ONCE, rest.length - at));
        }
    }
}

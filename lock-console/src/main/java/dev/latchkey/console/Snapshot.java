package dev.latchkey.console;

import dev.latchkey.LockFactory;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.ResourcePage;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What was held when the store was read, and what to tell whoever has the one before. Thread-safe. */
final class Snapshot {

    /** A page of more is of no use to anybody, and costs the server and the browser. */
    static final int MOST_SHOWN = 20_000;

    private final long version;
    private final Map<String, Entry> entries;
    private final boolean isComplete;
    private final Optional<String> trouble;
    private final byte[] change;

    /** Made for the first that asks: while pages are open, few ask for all. */
    private byte @Nullable [] all;

    private Snapshot(
            long version,
            Map<String, Entry> entries,
            boolean isComplete,
            Optional<String> trouble,
            CharSequence change) {
        this.version = version;
        this.entries = entries;
        this.isComplete = isComplete;
        this.trouble = trouble;
        this.change = bytes(change);
    }

    static Snapshot none() {
        return new Snapshot(0, Map.of(), true, Optional.empty(), "}");
    }

    /** Counts the readings. */
    long version() {
        return version;
    }

    /** Whether the last reading has failed. What is held is then that of the one before. */
    boolean isFailed() {
        return trouble.isPresent();
    }

    Snapshot read(LockFactory locks, String prefix, Clock clock) {
        Map<String, Entry> read = new LinkedHashMap<>();
        Optional<String> after = Optional.empty();
        do {
            ResourcePage page = locks.list(prefix, after, ListingStore.MAX_PAGE);
            long now = clock.millis();
            for (ListedResource listed : page.resources()) {
                Entry before = entries.get(listed.resource());
                Entry entry = Entry.of(listed, now);
                read.put(listed.resource(), before == null ? entry : entry.settle(before));
            }
            after = page.next();
        } while (after.isPresent() && read.size() < MOST_SHOWN);
        boolean complete = after.isEmpty();
        return new Snapshot(version + 1, read, complete, Optional.empty(), difference(read, complete));
    }

    Snapshot failed(String message) {
        return new Snapshot(
                version + 1, entries, isComplete, Optional.of(message), ",\"message\":" + Json.quote(message) + "}");
    }

    private CharSequence difference(Map<String, Entry> next, boolean complete) {
        StringBuilder json =
                new StringBuilder(",\"complete\":").append(complete).append(",\"set\":");
        list(
                json,
                next.values().stream()
                        .filter(entry -> !entry.equals(entries.get(entry.resource())))
                        .map(entry -> entry.json().toString()));
        json.append(",\"gone\":");
        list(
                json,
                entries.keySet().stream()
                        .filter(resource -> !next.containsKey(resource))
                        .map(Json::quote));
        return json.append('}');
    }

    private static void list(StringBuilder json, Stream<String> elements) {
        json.append(elements.collect(Collectors.joining(",", "[", "]")));
    }

    /** What leads here from the version before. */
    Message change(String name, Clock clock) {
        return new Message(isFailed() ? Message.Kind.TROUBLE : Message.Kind.CHANGE, name, clock.millis(), change);
    }

    /** Everything, for whoever has nothing, or not the version before. */
    Message all(String name, Clock clock) {
        return new Message(Message.Kind.ALL, name, clock.millis(), all());
    }

    private synchronized byte[] all() {
        byte[] made = all;
        if (made == null) {
            StringBuilder json =
                    new StringBuilder(",\"complete\":").append(isComplete).append(",\"trouble\":");
            json.append(trouble.map(Json::quote).orElse("null")).append(",\"locks\":");
            list(json, entries.values().stream().map(entry -> entry.json().toString()));
            made = bytes(json.append('}'));
            all = made;
        }
        return made;
    }

    private static byte[] bytes(CharSequence json) {
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Milliseconds since the feed began: monotonic. */
    static final class Clock {
        private final long began = System.nanoTime();

        long millis() {
            return (System.nanoTime() - began) / 1_000_000;
        }
    }
}

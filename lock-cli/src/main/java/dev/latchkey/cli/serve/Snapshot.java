package dev.latchkey.cli.serve;

import dev.latchkey.LockFactory;
import dev.latchkey.cli.text.Json;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.ResourcePage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What was held when the store was read, and the event that tells of it whoever has the one before.
 *
 * @param version counts the readings
 * @param entries by resource
 * @param isComplete false if more is held than is shown
 * @param trouble why the last reading failed; the entries are then those of the one before
 * @param change the event that leads here from the version before
 */
record Snapshot(long version, Map<String, Entry> entries, boolean isComplete, Optional<String> trouble, String change) {

    /** A page of more is of no use to anybody, and costs the server and the browser. */
    static final int MOST_SHOWN = 20_000;

    static Snapshot none() {
        return new Snapshot(0, Map.of(), true, Optional.empty(), "");
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
        return new Snapshot(version + 1, read, complete, Optional.empty(), difference(read, complete, clock.millis()));
    }

    Snapshot failed(String message, Clock clock) {
        Json json = new Json().put("now", (Long) clock.millis()).put("message", message);
        return new Snapshot(version + 1, entries, isComplete, Optional.of(message), event("trouble", json.toString()));
    }

    private String difference(Map<String, Entry> next, boolean complete, long now) {
        List<Json> set = next.values().stream()
                .filter(entry -> !entry.equals(entries.get(entry.resource())))
                .map(Entry::json)
                .toList();
        List<String> gone = new ArrayList<>();
        for (String resource : entries.keySet()) {
            if (!next.containsKey(resource)) {
                gone.add(Json.quote(resource));
            }
        }
        String json = new Json()
                .put("now", (Long) now)
                .put("complete", complete)
                .put("set", set)
                .toString();
        return event("change", json.substring(0, json.length() - 1) + ",\"gone\":[" + String.join(",", gone) + "]}");
    }

    /** Everything, for whoever has nothing, or not the version before. */
    String json(Clock clock) {
        return new Json()
                .put("now", (Long) clock.millis())
                .put("complete", isComplete)
                .put("trouble", trouble.orElse(null))
                .put("locks", entries.values().stream().map(Entry::json).toList())
                .toString();
    }

    String all(Clock clock) {
        return event("all", json(clock));
    }

    static String event(String name, String json) {
        return "event: " + name + "\ndata: " + json + "\n\n";
    }

    /** Milliseconds since this server began: monotonic. */
    static final class Clock {
        private final long began = System.nanoTime();

        long millis() {
            return (System.nanoTime() - began) / 1_000_000;
        }
    }
}

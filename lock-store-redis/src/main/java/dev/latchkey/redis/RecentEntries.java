package dev.latchkey.redis;

import java.util.LinkedHashMap;
import java.util.Map;

/** The youngest entries, up to a number. */
final class RecentEntries<V> extends LinkedHashMap<String, V> {

    private final int most;

    RecentEntries(int most) {
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
        return size() > most;
    }
}

package dev.latchkey.spi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a caller knows of the state of what it wants to take.
 *
 * @param known the number of the last change it knows
 * @param rule what it has to know
 */
public record StateCheck(long known, StateRule rule) {

    /**
     * Finds what the caller must not take yet.
     *
     * @param requests what it wants
     * @param indexes what is remembered, by resource
     * @return the least index that would do, by resource; empty if it knows enough
     */
    public Map<String, Long> stale(List<Request> requests, Map<String, StateIndex> indexes) {
        Map<String, Long> stale = new TreeMap<>();
        for (Request request : requests) {
            String resource = request.key().resource();
            long required = rule.required(request.mode(), indexes.getOrDefault(resource, StateIndex.NONE));
            if (required > known) {
                stale.put(resource, required);
            }
        }
        return stale;
    }
}

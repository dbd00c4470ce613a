package dev.latchkey.spi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a caller knows about the state of the resources it requests.
 *
 * @param known the number of the last change that the caller knows
 * @param rule which changes it must know
 */
public record StateCheck(long known, StateRule rule) {

    /**
     * Returns the resources that the caller must not acquire yet.
     *
     * @param requests the requests
     * @param indexes the stored numbers by resource
     * @return the smallest sufficient index by resource; empty if the caller knows enough
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
